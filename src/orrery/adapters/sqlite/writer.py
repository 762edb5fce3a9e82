"""The one thread that writes: it gathers the commits that wait and pays for one trip to the disk."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import apsw

from orrery.adapters.sqlite.connection import SqliteConnection
from orrery.adapters.sqlite.database import Database
from orrery.adapters.sqlite.file import StoreFile
from orrery.adapters.sqlite.transaction import apply, sweep
from orrery.adapters.sqlite.trouble import lost, unavailable
from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import Committed
from orrery.store_calls import LARGEST_GROUP, BatchThread, CommitAnswer, CommitLost, CommitOutcome, Request


class Writer:
    """Group commit over one connection, which is replaced after any error."""

    def __init__(
        self, file: StoreFile, clock: Clock, loop: asyncio.AbstractEventLoop, busy_timeout: timedelta
    ) -> None:
        self._file = file
        self._clock = clock
        self._connection = SqliteConnection(file, busy_timeout)
        self.failed = 0
        """How many commits ended in an error of the store."""
        self._thread: BatchThread[Request, CommitAnswer] = BatchThread(
            "store-writer", self._settle, self._connection.drop, loop, LARGEST_GROUP
        )

    def submit(self, request: Request) -> asyncio.Future[CommitAnswer]:
        """Queue `request`; the answer comes once it is durable or refused."""
        return self._thread.submit(request)

    def finish(self) -> None:
        """Carry out the queued commits, then end (blocks; no commit may be submitted after it)."""
        self._thread.finish()

    def _settle(self, requests: Sequence[Request]) -> Sequence[CommitOutcome]:
        """Return an outcome for every request; commits that fail together are tried again one by one."""
        try:
            return self._transact(requests)
        except Exception as error:  # noqa: BLE001  every caller gets the error, and the thread serves the next
            self._connection.drop()
            if len(requests) > 1 and not isinstance(error, (apsw.BusyError, CommitLost)):
                return [outcome for request in requests for outcome in self._settle([request])]
            return [self._explain(error, request) for request in requests]

    def _transact(self, requests: Sequence[Request]) -> Sequence[CommitAnswer]:
        self._file.verify_in_place()
        database = self._connection.opened()
        _ = database.execute("BEGIN IMMEDIATE")
        now = self._clock.now()
        answers = [apply(database, request, now) for request in requests]
        committed = sum(isinstance(answer, Committed) for answer in answers)
        if committed:
            sweep(database, now, committed)
        _commit(database)
        self._verify_log()
        return answers

    def _verify_log(self) -> None:
        try:
            self._file.verify_log()
        except (StoreUnavailable, OSError) as error:
            raise CommitLost(error) from error

    def _explain(self, error: Exception, request: Request) -> Exception:
        self.failed += 1
        if isinstance(error, CommitLost):
            return lost(self._file.path, error.cause, request.commit_id)
        return unavailable(self._file.path, error) if isinstance(error, (apsw.Error, OSError)) else error


def _commit(database: Database) -> None:
    try:
        _ = database.execute("COMMIT")
    except (apsw.BusyError, apsw.FullError):
        raise  # SQLite reports both before it writes the record that completes the commit
    except apsw.Error as error:
        raise CommitLost(error) from error
