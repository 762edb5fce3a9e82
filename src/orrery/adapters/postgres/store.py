"""`Store` over a PostgreSQL database: reads and commits in a thread each, off the event loop."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from typing import Self

import psycopg

from orrery.adapters.postgres.connection import LIMIT, SeenStore, StoreConnection
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.reader import Get, Reader, Rows, Select
from orrery.adapters.postgres.risks import Setup, ahead, risks, summary
from orrery.adapters.postgres.standby import explained, refuse_without_standbys
from orrery.adapters.postgres.statements import INSPECT, SCAN, SCAN_REVERSE
from orrery.adapters.postgres.transfer import transfer
from orrery.adapters.postgres.trouble import unavailable
from orrery.adapters.postgres.writer import Writer
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

_VACUUM = 100
"""How many times longer than a call a VACUUM may take: ten minutes, some gigabytes."""


class PostgresStore:
    """A `Store` in one database, for any number of processes on any number of machines; get one from `open`."""

    def __init__(
        self,
        connection_string: str,
        reading: StoreConnection,
        seen: SeenStore,
        deadline: Deadline,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._connection_string = connection_string
        self._deadline = deadline
        self._limit = timedelta(seconds=deadline.limit)
        self._clock = clock
        self._reader = Reader(reading, loop)
        writing = StoreConnection(connection_string, clock, deadline, seen)
        reading.other, writing.other = writing, reading
        self._writer = Writer(writing, clock, loop)
        self._closed = False
        self._ids = commit_ids()

    @classmethod
    async def open(cls, connection_string: str, clock: Clock, *, limit: timedelta = LIMIT) -> Self:
        """Open the store that `create` has made, over two connections; `limit` is how long a call may take.

        Raises `StoreMissing` without one, `StoreUnavailable` when the database cannot be used.
        """
        return await asyncio.to_thread(cls._open, connection_string, clock, limit, asyncio.get_running_loop())

    @classmethod
    def _open(
        cls, connection_string: str, clock: Clock, limit: timedelta, loop: asyncio.AbstractEventLoop
    ) -> Self:
        with ExitStack() as undo:
            deadline = undo.enter_context(closing(Deadline(limit)))
            seen = SeenStore()
            reading = StoreConnection(connection_string, clock, deadline, seen)
            try:
                with reading.opened():  # a database that cannot be used is an error at once
                    store = cls(connection_string, reading, seen, deadline, clock, loop)
            except psycopg.Error as error:
                raise explained(connection_string, deadline, unavailable(error)) from error
            _ = undo.pop_all()
            return store

    async def get(self, key: str) -> StoreEntry | None:
        """Return the live entry under `key`."""
        rows = await self._read(Get(encode_key(key), self._now()))
        return entry_of(rows[0]) if rows else None

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Return a page of the live entries under `prefix`."""
        low, high = scan_bounds(prefix, after, reverse=reverse)
        statement = SCAN_REVERSE if reverse else SCAN
        return [
            entry_of(row) for row in await self._read(Select(statement, (low, high, self._now(), max(limit, 0))))
        ]

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Apply `writes` if every check holds; many callers share one round trip and one flush."""
        self._refuse_when_closed()
        refuse_invalid(writes, checks, commit_id)
        name = next(self._ids) if commit_id is None else commit_id
        return await self._writer.submit(Request(tuple(writes), tuple(checks), name, named=commit_id is not None))

    async def scrub(self) -> bool:
        """Have the server reclaim the room of deleted entries."""
        self._refuse_when_closed()
        return await asyncio.to_thread(self._vacuum)

    async def inspect(self) -> Inspection:
        """Ask for the newest version, and for what could lose or stop commits; no server reports its room."""
        asked = _machine_time()
        try:
            rows = await self._read(Select(INSPECT, ()))
        except StoreUnavailable as error:
            raise await asyncio.to_thread(explained, self._connection_string, self._deadline, error) from error
        heard, (last_version, *found) = _machine_time(), rows[0]
        setup = Setup(*found)
        refuse_without_standbys(setup.awaited_standbys, setup.standbys)
        return Inspection(
            last_version,
            None,
            self._writer.failed,
            tuple(risks(setup, heard)),
            summary(setup),
            ahead(setup.now, asked, heard),
        )

    async def close(self) -> None:
        """Carry out the pending calls and close the connections; later calls are refused."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._finish)

    def _finish(self) -> None:
        self._writer.finish()
        self._reader.finish()
        self._deadline.close()

    def _vacuum(self) -> bool:
        skipped: list[object] = []
        with transfer(self._connection_string, self._clock, limit=self._limit) as target:
            target.connection.add_notice_handler(skipped.append)  # such as: another's table is left out
            _ = target.execute("SET lock_timeout = '5s'")
            _ = target.execute("VACUUM orrery_entries", limit=self._limit * _VACUUM)
        return not skipped

    async def _read(self, query: Get | Select) -> Rows:
        self._refuse_when_closed()
        return await self._reader.submit(query)

    def _now(self) -> int:
        return microseconds(self._clock.now())

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")


def _machine_time() -> int:
    """Return the time of this machine, whatever clock the service goes by, in microseconds since 1970."""
    return time.time_ns() // 1000
