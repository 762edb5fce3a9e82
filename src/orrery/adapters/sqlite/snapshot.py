"""Snapshots of a store in use, and restoring one: after a kill there is the old file or the new one."""

import os
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import apsw

from orrery.adapters.sqlite.contents import contents_of, count_on, fill, last_version_of
from orrery.adapters.sqlite.database import connect
from orrery.adapters.sqlite.file import (
    BUSY_TIMEOUT,
    SCHEMA,
    create_private,
    lock_of,
    log_of,
    make_durable,
    moved,
    on_disk_of,
    open_sound,
    require_store,
    seize,
    share,
    sync,
    verify_ours,
    verify_own_log,
    why_closed,
)
from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import StoreContents
from orrery.store_calls import version_floor
from orrery.working_folder import working_folder


def write_snapshot(contents: StoreContents, target: Path, source: object) -> None:
    """Write what the store at `source` holds to `target` (0600), checked; it has no erased data.

    Raises `Invalid` when the store is empty or `target` exists, and `StoreUnavailable` when the snapshot cannot be
    written; then no target is left.
    """
    with _snapshot_at(target, source) as new:
        _write(contents, new)


def copy_snapshot(source: Path, target: Path) -> None:
    """Write a snapshot of the store in the file `source`, as `write_snapshot` does, without a look at its rows."""
    require_store(source)
    with _snapshot_at(target, source) as new, share(source), closing(open_sound(source)) as database:
        create_private(new)
        _ = database.execute("VACUUM INTO ?", (str(new),))
        open_sound(new).close()


@contextmanager
def _snapshot_at(target: Path, source: object) -> Generator[Path]:
    """Yield where to write a snapshot, which is published as `target` in the end, unless nothing is in it."""
    if target.exists():
        raise Invalid(f"The file {target.name} exists already: choose another name for the snapshot.")
    with on_disk_of(target), _scratch(target) as new:
        yield new
        _refuse_empty(new, source)
        _publish(new, target)


@contextmanager
def reading_snapshot(snapshot: Path) -> Generator[StoreContents]:
    """Yield what a snapshot holds; raise `Invalid` for one that is damaged, or for another file."""
    if not snapshot.is_file():
        raise Invalid(f"There is no file {snapshot.name}.")
    try:
        with on_disk_of(snapshot):
            database = open_sound(snapshot)
    except StoreUnavailable as error:
        raise Invalid(f"Not restored, and nothing was replaced. {error}") from error
    with closing(database):
        yield contents_of(database)


def replace(target: Path, contents: StoreContents, clock: Clock, *, read_at: int | None = None) -> None:
    """Replace the store at `target`, if any, by `contents`, and keep the old file as ``<name>.before-restore``.

    When root restores it, it belongs to the old file's user, or to that of the folder. Its versions continue above
    those that the replaced file may have given out. After an interruption `target` is the old store or the new
    one, and this may be repeated. Raises `Invalid` when the store is in use, or an earlier ``.before-restore`` is
    still there, or the last version of the store is no longer `read_at`; `StoreUnavailable` when the disk fails.
    """
    if target.exists():
        require_store(target)
    with on_disk_of(target), seize(target), _scratch(target) as new:
        _refuse_to_overwrite(_backup_name(target), target)
        _write(contents, new)
        beyond = _fold_log(target)
        if read_at is not None and beyond != read_at:
            raise Invalid("The store changed while it was restored: stop the service, and restore again.")
        _count_on(new, beyond=beyond, clock=clock)
        _leave_to_its_user(new, target)
        _set_aside(target)
        _publish(new, target)


def last_version(path: Path, at_least: int) -> int | None:
    """Return the newest version that was given out; None unless the store is sound, and gave out `at_least`."""
    if log_of(_backup_name(path)).exists():
        return None  # a restore that was killed took away a log that it could not fold
    try:
        with closing(open_sound(path)) as store:
            last = last_version_of(store)
    except (apsw.Error, StoreUnavailable):
        return None
    return last if last >= at_least else None


def copies_beside(path: Path) -> list[Path]:
    """Return the files that restores and killed runs have left beside a store: they may contain erased data."""
    names = (f"{path.name}.before-restore", moved(path).name, f".{path.name}.")
    return sorted(one for one in path.parent.glob("*") if one.name.startswith(names))


@contextmanager
def _scratch(target: Path) -> Generator[Path, None, None]:
    """Yield the name of a temporary file on the disk of `target`; raise `Invalid` while another command has it."""
    with ExitStack() as stack:
        try:
            directory = stack.enter_context(working_folder(target.with_name(f".{target.name}.unfinished")))
        except BlockingIOError:
            raise Invalid(f"Another command is writing {target.name}: let it end first.") from None
        yield directory / "new"


def _write(contents: StoreContents, new: Path) -> None:
    create_private(new)
    with closing(connect(new, BUSY_TIMEOUT)) as database:
        _ = database.pragma("synchronous", "off")  # it is synced when it is whole
        _ = database.execute(SCHEMA)
        fill(database, contents)
    open_sound(new).close()


def _refuse_empty(copy: Path, source: object) -> None:
    """Raise `Invalid` for a store that nothing was ever written to: a snapshot of nothing reads like a backup."""
    with closing(connect(copy, BUSY_TIMEOUT)) as database:
        if database.execute("SELECT count(*) FROM entries").get == 0:
            raise Invalid(f"The store at {source} is empty, nothing was saved: is it the configured one?")


def _count_on(new: Path, *, beyond: int, clock: Clock) -> None:
    with closing(connect(new, BUSY_TIMEOUT)) as database:
        make_durable(database)
        _ = database.execute("BEGIN")
        count_on(database, max(version_floor(clock.now()), beyond))
        _ = database.execute("COMMIT")


def _fold_log(path: Path) -> int:
    """Have all of the store in its one file, and return its last version; 0 when it is past reading."""
    try:
        verify_own_log(path)
        with closing(connect(path, BUSY_TIMEOUT)) as database:
            verify_ours(path, database, may_be_closed=True)
            if why := why_closed(database):
                raise Invalid(f"The store in the file {path.name} is closed: {why}.")
            last = last_version_of(database)
            _ = database.pragma("journal_mode", "delete")
            return last
    except apsw.BusyError:
        raise Invalid(f"The store file {path.name} is in use by another program: close that first.") from None
    except (apsw.Error, StoreUnavailable):
        return 0


def _backup_name(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-restore")


def _refuse_to_overwrite(kept: Path, path: Path) -> None:
    if kept.exists() and not (path.exists() and kept.samefile(path)):
        raise Invalid(f"The file {kept.name} of an earlier restore is still there: move it away first.")


def _leave_to_its_user(new: Path, target: Path) -> None:
    """Give the new file to the user of the old one, else of the folder: the service must be able to open it."""
    if os.geteuid() == 0:
        user = (target if target.exists() else target.parent).stat()
        for file in (new, lock_of(target)):
            os.chown(file, user.st_uid, user.st_gid)


def _set_aside(path: Path) -> None:
    """Give the old file a second name, and take away its log, which must not be read into the new file."""
    for old, kept in ((path, _backup_name(path)), (log_of(path), log_of(_backup_name(path)))):
        if old.exists() and not kept.exists():
            kept.hardlink_to(old)
    log_of(path).unlink(missing_ok=True)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)


def _publish(new: Path, target: Path) -> None:
    sync(new)
    _ = new.replace(target)
    sync(target.parent)
