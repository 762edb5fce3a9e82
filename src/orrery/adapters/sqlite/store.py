"""`Store` over one SQLite file: reads and commits in a thread each, off the event loop."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from shutil import disk_usage
from typing import Self, TypeVar

import apsw

from orrery.adapters.sqlite.file import BUSY_TIMEOUT, StoreFile
from orrery.adapters.sqlite.reader import Query, Reader, Rows
from orrery.adapters.sqlite.trouble import unavailable
from orrery.adapters.sqlite.writer import Writer
from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import (
    Check,
    Committed,
    Conflict,
    Inspection,
    StoreEntry,
    Write,
    encode_key,
    refuse_invalid,
)
from orrery.store_calls import Request, commit_ids, entry_of, microseconds, scan_bounds

_LAST_VERSION = "SELECT x'', x'', seq, NULL FROM sqlite_sequence WHERE name = 'commits'"
"""The columns are those of a `Row`."""

_COLUMNS = "SELECT key, value, version, expires_at FROM entries"
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"
_GET = f"{_COLUMNS} WHERE key = ? AND {_ALIVE}"
_SCAN = f"{_COLUMNS} WHERE key >= ? AND key < ? AND {_ALIVE} ORDER BY key LIMIT ?"
_SCAN_REVERSE = f"{_COLUMNS} WHERE key >= ? AND key < ? AND {_ALIVE} ORDER BY key DESC LIMIT ?"

T = TypeVar("T")


class SqliteStore:
    """A `Store` in one file, for any number of processes of one machine; get one from `open`."""

    def __init__(
        self, file: StoreFile, clock: Clock, loop: asyncio.AbstractEventLoop, busy_timeout: timedelta
    ) -> None:
        self._file = file
        self._clock = clock
        self._reader = Reader(file, loop, busy_timeout)
        self._busy_timeout = busy_timeout
        self._writer = Writer(file, clock, loop, busy_timeout)
        self._closed = False
        self._ids = commit_ids()

    @classmethod
    async def open(cls, path: Path, clock: Clock, *, busy_timeout: timedelta = BUSY_TIMEOUT) -> Self:
        """Open the store at `path`, which `create` has made.

        `busy_timeout` is how long a read or a commit waits for another process's transaction.
        Raises `StoreMissing` without one, `StoreUnavailable` when the file cannot be used or is not ours.
        """
        return await asyncio.to_thread(cls._open, path, clock, busy_timeout, asyncio.get_running_loop())

    @classmethod
    def _open(cls, path: Path, clock: Clock, busy_timeout: timedelta, loop: asyncio.AbstractEventLoop) -> Self:
        try:
            with ExitStack() as undo:
                file = undo.enter_context(closing(StoreFile(path)))
                store = cls(file, clock, loop, busy_timeout)
                _ = undo.pop_all()
                return store
        except (apsw.Error, OSError) as error:
            raise unavailable(path, error) from error

    def get(self, key: str) -> asyncio.Future[StoreEntry | None]:
        """Return the live entry under `key`."""
        return self._read(_GET, (encode_key(key), self._now()), _entry)

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Return a page of the live entries under `prefix`."""
        low, high = scan_bounds(prefix, after, reverse=reverse)
        statement = _SCAN_REVERSE if reverse else _SCAN
        return await self._read(statement, (low, high, self._now(), max(limit, 0)), _entries)

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Apply `writes` if every check holds; many callers share one trip to the disk."""
        self._refuse_when_closed()
        refuse_invalid(writes, checks, commit_id)
        name = next(self._ids) if commit_id is None else commit_id
        request = Request(tuple(writes), tuple(checks), name, named=commit_id is not None)
        return await self._writer.submit(request)

    async def scrub(self) -> bool:
        """Move the log into the file, which overwrites deleted data, and empty the log."""
        self._refuse_when_closed()
        return await asyncio.to_thread(self._fold_log)

    async def inspect(self) -> Inspection:
        """Look at the file, its header and its disk."""
        last = await self._read(_LAST_VERSION, (), _entry)
        free = await asyncio.to_thread(self._room)
        return Inspection(last.version if last else 0, free, self._writer.failed)

    async def close(self) -> None:
        """Carry out the pending calls and close the file; later calls are refused."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._finish)
            self._file.close()

    def _finish(self) -> None:
        self._writer.finish()
        self._reader.finish()

    def _read(
        self, statement: str, parameters: tuple[bytes | int, ...], answer: Callable[[Rows], T]
    ) -> asyncio.Future[T]:
        self._refuse_when_closed()
        return self._reader.submit(Query(statement, parameters, answer))

    def _fold_log(self) -> bool:
        try:
            with closing(self._file.connect(self._busy_timeout)) as database:
                return database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0] == 0
        except (apsw.Error, OSError) as error:
            raise unavailable(self._file.path, error) from error

    def _room(self) -> int | None:
        try:
            self._file.verify_header()
            disk = disk_usage(self._file.path.parent)
        except (apsw.Error, OSError) as error:
            raise unavailable(self._file.path, error) from error
        return disk.free if disk.total else None  # some file systems report no size

    def _now(self) -> int:
        return microseconds(self._clock.now())

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")


def _entry(rows: Rows) -> StoreEntry | None:
    return entry_of(rows[0]) if rows else None


def _entries(rows: Rows) -> list[StoreEntry]:
    return [entry_of(row) for row in rows]
