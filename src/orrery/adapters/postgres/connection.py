"""One connection to the database, opened when it is needed, replaced after an error, and ended at a deadline."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg
from psycopg.types.numeric import Int8BinaryDumper

from orrery.adapters.postgres.barrier import Opened, first_host, pass_barrier
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import SCHEMA_VERSION, SHARE, verify
from orrery.adapters.postgres.standby import POOLER, refuse_old
from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock

LIMIT = timedelta(seconds=6)
"""How long a call may wait for the database."""

_SETTINGS = """
SET synchronous_commit = on; SET jit = off; SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off
"""
"""The plans of an empty table must not stay: the statements are made for lookups by key."""

LOCK_WAIT = "SELECT set_config('lock_timeout', %s, false)"
"""Sooner than the deadline: a call that waits for a lock learns why."""

_IDLE = "SELECT set_config('idle_in_transaction_session_timeout', %s, false)"
"""Half a commit does not hold the turn."""

_FOUND = """
SELECT to_regclass('orrery_store') IS NOT NULL, pid, backend_start
FROM pg_stat_activity WHERE pid = pg_backend_pid()
"""
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"


@dataclass(slots=True)
class SeenStore:
    """What the connections of one process have seen of the store: its epoch, its history's mark, and its host."""

    epoch: int | None = None
    mark: str = ""
    host: int = 0
    """Which host of the address served the store last."""

    def refuse_another(self, epoch: int, mark: str) -> None:
        """Raise `StoreUnavailable` for a store that was restored, or that a failover has left behind."""
        if self.epoch not in (None, epoch):
            raise StoreUnavailable("The store was restored while it was in use: restart what uses it.")
        if _timeline(mark) < _timeline(self.mark):
            raise StoreUnavailable(
                "The store's database went back to a server that a failover had left behind: stop that server."
            )


def patience(limit: timedelta) -> str:
    """Return how long a server waits, in milliseconds, for a call that has `limit`."""
    return f"{limit.total_seconds() * 1000 * 5 // 6:.0f}"


def _timeline(mark: str) -> str:
    return mark.partition(":")[0]


class StoreConnection:
    """A connection for one thread. A fault of one drops the `other`, too: it may lead to a server of before."""

    def __init__(self, connection_string: str, clock: Clock, deadline: Deadline, seen: SeenStore) -> None:
        self._connection_string = connection_string
        self._clock = clock
        self._deadline = deadline
        self._seen = seen
        self._opened: Opened | None = None
        self._backends: dict[int, tuple[int, datetime]] = {}
        """By the number of a host, its newest process for this connection that was used, and when it began."""
        self.other: StoreConnection | None = None
        self.is_expired = False
        """Whether the connection is to be opened again before it is used."""

    @contextmanager
    def opened(self) -> Generator[psycopg.Connection]:
        """Yield the connection, opened again after `drop`, for calls that end by the deadline."""
        if self.is_expired:
            self._close()
        if self._opened is None:
            self._opened = self._connect()
        connection, line = self._opened
        with self._deadline.over(line):
            yield connection

    def drop(self) -> None:
        """Close the connection, and with it an open transaction."""
        self._close()
        if self.other:
            self.other.is_expired = True

    @property
    def turn(self) -> tuple[int | None, int]:
        """What `statements.TURN` requires of the store: its epoch, and the newest schema that it may have."""
        return self._seen.epoch, SCHEMA_VERSION

    def _close(self) -> None:
        self.is_expired = False
        opened, self._opened = self._opened, None
        if opened:
            with suppress(psycopg.Error):
                opened[0].close()
            opened[1].close()

    def _connect(self) -> Opened:
        opened, self._seen.host = first_host(self._connection_string, self._deadline, self._begin, self._seen.host)
        return opened

    def _begin(self, connection: psycopg.Connection, host: int) -> None:
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # else each size is another statement
        backend = self._refuse(connection)
        # The server's process of the connection before may have a commit still to carry out. One that has begun
        # with it holds the turn, and the barrier waits for that.
        if host in self._backends:
            _ = connection.execute(_END, self._backends[host])
        _ = connection.execute(_SETTINGS)
        _ = connection.execute(SHARE)
        for setting in (LOCK_WAIT, _IDLE):
            _ = connection.execute(setting, (patience(timedelta(seconds=self._deadline.limit)),))
        # What a server shows is kept once a standby has it: one that was left behind is of no use to the next.
        self._seen.epoch, self._seen.mark = pass_barrier(connection, self._judge, self._clock.now())
        self._backends[host] = backend

    def _refuse(self, connection: psycopg.Connection) -> tuple[int, datetime]:
        """Return the server's process, and when it began; raise for a server, or an address, of no use."""
        refuse_old(connection)
        found = connection.execute(_FOUND).fetchone()
        if found is None or found[1] != connection.info.backend_pid:
            raise StoreUnavailable(POOLER)
        if not found[0]:
            verify(None)
        return found[1:]

    def _judge(self, schema: int | None, closed: str | None, epoch: int, mark: str) -> None:
        verify(schema, closed)
        self._seen.refuse_another(epoch, mark)
