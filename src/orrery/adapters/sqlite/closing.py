"""A store file that no process may open: it is copied elsewhere, or is not yet a whole copy."""

from contextlib import closing
from pathlib import Path

from orrery.adapters.sqlite.database import connect
from orrery.adapters.sqlite.file import (
    APPLICATION_ID,
    BUSY_TIMEOUT,
    CLOSED_ID,
    log_of,
    make_durable,
    moved,
    on_disk_of,
    open_sound,
    require_store,
    seize,
    sync,
    verify_ours,
    why_closed,
)
from orrery.errors import Invalid


def closed(path: Path) -> str | None:
    """See `StorePlace.closed`."""
    require_store(path)
    with on_disk_of(path), closing(open_sound(path, may_be_closed=True)) as database:
        return why_closed(database)


def close(path: Path, why: str | None) -> None:
    """See `StorePlace.close`; raise `Invalid` while a process uses it."""
    require_store(path)
    with on_disk_of(path), seize(path), closing(connect(path, BUSY_TIMEOUT)) as database:
        verify_ours(path, database, may_be_closed=True)
        make_durable(database)
        _ = database.execute("BEGIN IMMEDIATE; DROP TABLE IF EXISTS closed")
        if why is not None:
            _ = database.execute("CREATE TABLE closed (why TEXT NOT NULL) STRICT")
            _ = database.execute("INSERT INTO closed VALUES (?)", (why,))
        _ = database.pragma("application_id", APPLICATION_ID if why is None else CLOSED_ID)
        _ = database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")


def set_aside(path: Path) -> None:
    """Rename a closed store, all of it in its one file; raise `Invalid` where one was kept before."""
    with on_disk_of(path), seize(path):
        if moved(path).exists():
            raise Invalid(f"The file {moved(path).name} of an earlier copy is still there: move it away first.")
        with closing(connect(path, BUSY_TIMEOUT)) as database:
            _ = database.pragma("journal_mode", "delete")
        _ = path.rename(moved(path))
        sync(path.parent)


def remove(path: Path) -> None:
    """See `StorePlace.remove`."""
    if closed(path) is None:
        raise Invalid(f"The store file {path.name} is open: it was not removed.")
    with on_disk_of(path), seize(path):
        for one in (path, log_of(path), path.with_name(f"{path.name}-shm")):
            one.unlink(missing_ok=True)
        sync(path.parent)
