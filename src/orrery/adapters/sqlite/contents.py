"""What a store file holds, row by row, to and from a store of any engine."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from orrery.adapters.sqlite.database import Database, connect
from orrery.adapters.sqlite.file import (
    BUSY_TIMEOUT,
    make_durable,
    on_disk_of,
    open_sound,
    require_store,
    seize,
    share,
    verify_ours,
)
from orrery.adapters.sqlite.trouble import unavailable
from orrery.ports.store import StoreContents, StoredCommit, StoredRow

_ROWS = "SELECT key, value, version, expires_at FROM entries WHERE key > ? ORDER BY key"
_COMMITS = "SELECT id, version, committed_at FROM commits ORDER BY version"
_ADD_ROW = "INSERT INTO entries (key, value, version, expires_at) VALUES (?, ?, ?, ?)"
_ADD_COMMIT = "INSERT INTO commits (id, version, committed_at) VALUES (?, ?, ?)"


@contextmanager
def reading(path: Path, after: bytes = b"", *, may_be_closed: bool = False) -> Generator[StoreContents]:
    """Yield what the store at `path` holds, its rows beyond `after`; it may be in use.

    Raises `StoreMissing` and, also while it is read, `StoreUnavailable`.
    """
    require_store(path)
    try:
        with share(path), closing(open_sound(path, may_be_closed=may_be_closed)) as database:
            yield contents_of(database, after)
    except (apsw.Error, OSError) as error:
        raise unavailable(path, error) from error


def contents_of(database: Database, after: bytes = b"") -> StoreContents:
    """Return what is in it now, whatever is committed meanwhile."""
    _ = database.execute("BEGIN")
    rows, commits = database.execute(_ROWS, (after,)), database.execute(_COMMITS)
    return StoreContents(map(StoredRow._make, rows), map(StoredCommit._make, commits), last_version_of(database))


def load(path: Path, contents: StoreContents, *, may_be_closed: bool = False) -> None:
    """Add `contents` to the store at `path`; raise `Invalid` while a process uses it, and `StoreUnavailable`."""
    require_store(path)
    with on_disk_of(path), seize(path), closing(connect(path, BUSY_TIMEOUT)) as database:
        verify_ours(path, database, may_be_closed=may_be_closed)
        make_durable(database)
        fill(database, contents)


def fill(database: Database, contents: StoreContents) -> None:
    """Add `contents` in one transaction."""
    _ = database.execute("BEGIN IMMEDIATE")
    _ = database.executemany(_ADD_ROW, contents.rows)
    _ = database.executemany(_ADD_COMMIT, contents.commits)
    count_on(database, contents.last_version)
    _ = database.execute("COMMIT")


def count_on(database: Database, version: int) -> None:
    """Have the next commit get a greater version than `version`, and than any before."""
    last = max(version, last_version_of(database))
    _ = database.execute("DELETE FROM sqlite_sequence WHERE name = 'commits'")
    _ = database.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('commits', ?)", (last,))


def last_version_of(database: Database) -> int:
    """Return the newest version that was given out, 0 for a new store."""
    last = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'commits'").get
    return last if isinstance(last, int) else 0
