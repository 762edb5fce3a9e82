"""The one thread that reads, so that a read that waits for the disk or a lock holds up nothing but reads."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar, cast

import apsw

from orrery.adapters.sqlite.connection import SqliteConnection
from orrery.adapters.sqlite.file import StoreFile
from orrery.adapters.sqlite.trouble import unavailable
from orrery.store_calls import BatchThread

_LARGEST_BATCH = 64
"""How many reads at most share one call back to the event loop."""

_BLOCKED = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)

T = TypeVar("T")

Row = tuple[bytes, bytes, int, int | None]
"""Key, value, version, expiry in microseconds since 1970."""

Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Query(Generic[T]):
    """A statement that selects the columns of a `Row`, and what makes the answer of its rows."""

    statement: str
    parameters: tuple[bytes | int, ...]
    answer: Callable[[Rows], T]


class Reader:
    """Reads over one connection, which is replaced after any error."""

    def __init__(self, file: StoreFile, loop: asyncio.AbstractEventLoop, busy_timeout: timedelta) -> None:
        self._file = file
        self._connection = SqliteConnection(file, busy_timeout)
        _ = self._connection.opened()  # a file of another program is an error at once
        self._thread: BatchThread[Query[Any], Any] = BatchThread(
            "store-reader", self._settle, self._connection.drop, loop, _LARGEST_BATCH
        )

    def submit(self, query: Query[T]) -> asyncio.Future[T]:
        """Queue `query`; raises `StoreUnavailable` when awaited."""
        return self._thread.submit(query)

    def finish(self) -> None:
        """Carry out the queued reads, then end (blocks; no read may be submitted after it)."""
        self._thread.finish()

    def _settle(self, queries: Sequence[Query[Any]]) -> list[Any]:
        outcomes: list[Any] = []
        for number, query in enumerate(queries):
            try:
                outcomes.append(_answered(query, self._rows(query)))
            except Exception as error:  # noqa: BLE001  every caller gets the error, and the thread serves the next
                self._connection.drop()
                # The reads behind a locked one fail with it: each would wait as long, one after the other.
                refused = queries[number:] if isinstance(error, _BLOCKED) else [query]
                outcomes += [unavailable(self._file.path, error) for _ in refused]
                if isinstance(error, _BLOCKED):
                    break
        return outcomes

    def _rows(self, query: Query[Any]) -> Rows:
        # The columns are those of a Row, which the STRICT schema vouches for.
        return cast("Rows", self._connection.opened().execute(query.statement, query.parameters).fetchall())


def _answered(query: Query[Any], rows: Rows) -> Any:  # noqa: ANN401  of the query's own type
    """Return the answer, or the error where rows hold what no store writes: the file itself can be read."""
    try:
        return query.answer(rows)
    except ValueError as error:
        return error
