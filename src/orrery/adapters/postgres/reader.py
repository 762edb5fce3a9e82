"""The one thread that reads: what waits at the same time shares one round trip, and its gets one query."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg

from orrery.adapters.postgres.connection import StoreConnection
from orrery.adapters.postgres.statements import GET
from orrery.adapters.postgres.trouble import nothing_is_stored, unavailable
from orrery.store_calls import BatchThread

_LARGEST_BATCH = 128

Rows = list[tuple[Any, ...]]
"""The columns are those of the statement, whose types the schema vouches for."""


@dataclass(frozen=True, slots=True)
class Get:
    """One key, and the time by which it must not have expired, in microseconds since 1970."""

    key: bytes
    now: int


@dataclass(frozen=True, slots=True)
class Select:
    """A statement that reads."""

    statement: LiteralString
    parameters: tuple[bytes | int | list[bytes], ...]


Query = Get | Select


class Reader:
    """Reads over one connection."""

    def __init__(self, connection: StoreConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._thread: BatchThread[Query, Rows] = BatchThread(
            "store-reader", self._settle, connection.drop, loop, _LARGEST_BATCH
        )

    def submit(self, query: Query) -> asyncio.Future[Rows]:
        """Queue `query`; raises `StoreUnavailable` when awaited."""
        return self._thread.submit(query)

    def finish(self) -> None:
        """Carry out the queued reads, then end (blocks; no read may be submitted after it)."""
        self._thread.finish()

    def _settle(self, queries: Sequence[Query]) -> Sequence[Rows | Exception]:
        """Return the rows of every query; a line that was broken while nothing was read is opened once again."""
        try:
            try:
                return self._read(queries)
            except psycopg.Error as error:
                self._connection.drop()
                if nothing_is_stored(error):
                    raise
                return self._read(queries)
        except Exception as error:  # noqa: BLE001  every caller gets the error, and the thread serves the next
            self._connection.drop()
            return [unavailable(error)] * len(queries)

    def _read(self, queries: Sequence[Query]) -> list[Rows]:
        gets = [query for query in queries if isinstance(query, Get)]
        with self._connection.opened() as connection, connection.pipeline():
            got = [_execute(connection, _joined(gets))] if gets else []
            selected = [_execute(connection, query) for query in queries if isinstance(query, Select)]
        by_key = {row[0]: [row] for cursor in got for row in cursor}
        rows = (cursor.fetchall() for cursor in selected)
        return [by_key.get(query.key, []) if isinstance(query, Get) else next(rows) for query in queries]


def _joined(gets: Sequence[Get]) -> Select:
    return Select(GET, (list({one.key for one in gets}), max(one.now for one in gets)))


def _execute(connection: psycopg.Connection, query: Select) -> psycopg.Cursor[tuple[Any, ...]]:
    return connection.execute(query.statement, query.parameters, prepare=True, binary=True)
