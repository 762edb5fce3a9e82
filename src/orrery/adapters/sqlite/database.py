"""The part of the SQLite binding that Orrery uses, with types: its own stubs need newer Pythons.

Nothing else in this process may open a store file, the standard library's sqlite3 neither: closing any handle of
a file drops the process's locks on it, and two SQLite libraries in one process do not see each other's.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

HEADER = 100
"""Bytes of a database file's header (SQLite's file format, section 1.3)."""

Value = bytes | str | int | None


class Rows(Protocol):
    """The rows of one statement."""

    @property
    def get(self) -> Value:
        """The only column of the only row, or None when there is no row."""
        ...

    def fetchall(self) -> list[tuple[Value, ...]]: ...

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Read row by row; the columns are those of the statement, whose types the schema vouches for."""
        ...


class Database(Protocol):
    """One connection to one file; every method may raise `apsw.Error`."""

    def execute(self, statements: str, bindings: Sequence[Value] = ()) -> Rows: ...

    def executemany(self, statements: str, bindings: Iterable[Sequence[Value]]) -> Rows:
        """Execute the statements with each of the bindings, and return the rows of all."""
        ...

    def pragma(self, name: str, value: int | str | None = None) -> Value:
        """Set a pragma, or ask for its value."""
        ...

    def last_insert_rowid(self) -> int:
        """Return the number of the row inserted last."""
        ...

    def config(self, option: int, value: int) -> int:
        """Set an option of the connection that no statement sets."""
        ...

    def set_busy_timeout(self, milliseconds: int) -> None:
        """Wait so long for a lock."""
        ...

    def close(self) -> None:
        """Close the file; an open transaction is rolled back."""
        ...


def connect(path: Path, busy_timeout: timedelta) -> Database:
    """Open an existing file, and never make one."""
    database = cast("Database", apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE))
    database.set_busy_timeout(busy_timeout // timedelta(milliseconds=1))
    return database


def leave_log(database: Database) -> None:
    """Have this connection leave the log as it is: the last that closes writes it into the file else."""
    _ = database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def first_bytes(path: Path) -> bytes:
    """Return a file's first `HEADER` bytes, or all of a shorter one.

    SQLite opens it, because it defers the close that would drop the locks of this process.
    """
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        return bytes(file.xRead(min(HEADER, file.xFileSize()), 0))
    finally:
        file.xClose()
