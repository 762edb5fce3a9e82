"""The one thread that writes: it gathers the commits that wait and pays for one round trip and one flush."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

import psycopg

from orrery.adapters.postgres.barrier import ENDED_WAIT, waited_for
from orrery.adapters.postgres.connection import StoreConnection
from orrery.adapters.postgres.statements import SWEEP_COMMITS, SWEEP_ENTRIES, TURN, WAVE
from orrery.adapters.postgres.trouble import is_of_one_request, is_repeatable, lost, nothing_is_stored, unavailable
from orrery.adapters.postgres.waves import Parameters, Row, answers, parameters, waves
from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock
from orrery.store_calls import (
    LARGEST_GROUP,
    REMEMBERED,
    BatchThread,
    CommitAnswer,
    CommitLost,
    CommitOutcome,
    Request,
    microseconds,
)

_SWEEP = 1000
"""How many expired entries and forgotten ids a sweep removes at most."""

_BETWEEN_SWEEPS = timedelta(seconds=1)
_ATTEMPTS = 4
"""How often a transaction is sent that the server undid for the sake of another."""


class Writer:
    """Group commit over one connection."""

    def __init__(self, connection: StoreConnection, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._clock = clock
        self._swept: datetime | None = None
        self.failed = 0
        """How many commits ended in an error of the store."""
        self._thread: BatchThread[Request, CommitAnswer] = BatchThread(
            "store-writer", self._settle, connection.drop, loop, LARGEST_GROUP
        )

    def submit(self, request: Request) -> asyncio.Future[CommitAnswer]:
        """Queue `request`; the answer comes once it is durable or refused."""
        return self._thread.submit(request)

    def finish(self) -> None:
        """Carry out the queued commits, then end (blocks; no commit may be submitted after it)."""
        self._thread.finish()

    def _settle(self, requests: Sequence[Request], attempts: int = _ATTEMPTS) -> Sequence[CommitOutcome]:
        """Return an outcome for every request; commits that are refused together are tried again one by one."""
        try:
            return self._transact(requests)
        except Exception as error:  # noqa: BLE001  every caller gets the error, and the thread serves the next
            self._connection.drop()
            if is_repeatable(error) and attempts > 1:
                return self._settle(requests, attempts - 1)
            if len(requests) > 1 and not isinstance(error, CommitLost) and is_of_one_request(error):
                return [outcome for request in requests for outcome in self._settle([request])]
            return [self._explain(error, request) for request in requests]

    def _transact(self, requests: Sequence[Request]) -> Sequence[CommitAnswer]:
        now = self._clock.now()
        groups = [(wave, parameters(wave, now)) for wave in waves(requests)]
        with self._connection.opened() as connection:
            try:
                found = self._send(connection, groups, now)
            except Exception as error:
                if nothing_is_stored(error):
                    raise
                raise CommitLost(error) from error
        return [found[id(request)] for request in requests]

    def _send(
        self, connection: psycopg.Connection, groups: Sequence[tuple[Sequence[Request], Parameters]], now: datetime
    ) -> dict[int, CommitAnswer]:
        with waited_for(connection, ENDED_WAIT), connection.pipeline():
            _ = connection.execute("BEGIN")
            _ = connection.execute(TURN, self._connection.turn, prepare=True)
            cursors = [connection.execute(WAVE, given, prepare=True, binary=True) for _, given in groups]
            self._sweep(connection, now)
            _ = connection.execute("COMMIT")
        return {
            id(request): answer
            for (group, _), cursor in zip(groups, cursors, strict=True)
            for request, answer in zip(group, answers(group, cast("list[Row]", cursor.fetchall())), strict=True)
        }

    def _sweep(self, connection: psycopg.Connection, now: datetime) -> None:
        """Remove what has expired and what need not be remembered, at most once a second."""
        if self._swept and abs(now - self._swept) < _BETWEEN_SWEEPS:
            return
        self._swept = now
        given = {"now": microseconds(now), "remembered": REMEMBERED, "most": _SWEEP}
        _ = connection.execute(SWEEP_ENTRIES, given, prepare=True)
        _ = connection.execute(SWEEP_COMMITS, given, prepare=True)

    def _explain(self, error: Exception, request: Request) -> Exception:
        self.failed += 1
        if isinstance(error, CommitLost):
            return lost(error.cause, request.commit_id)
        return unavailable(error) if isinstance(error, (psycopg.Error, StoreUnavailable)) else error
