"""One connection to the database, opened when it is needed, replaced after an error, and ended at a deadline."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg
from psycopg.errors import Diagnostic
from psycopg.types.numeric import Int8BinaryDumper

from orrery.adapters.postgres.address import connect, each_host
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import COUNT_ON, MARK, OLDEST_SERVER, SCHEMA_VERSION, SHARE, verify
from orrery.adapters.postgres.standby import POOLER
from orrery.adapters.postgres.trouble import is_of_server
from orrery.errors import OrreryError, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.store_calls import version_floor

LIMIT = timedelta(seconds=6)
"""How long a call may wait for the database."""

_SETTINGS = """
SET synchronous_commit = on; SET jit = off; SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off
"""
"""The plans of an empty table must not stay: the statements are made for lookups by key."""

_WAITS = """
SELECT set_config('lock_timeout', %(ms)s, false), set_config('idle_in_transaction_session_timeout', %(ms)s, false)
"""
"""Sooner than the deadline: a call that waits for a lock learns why, and half a commit does not hold the turn."""

_FOUND = """
SELECT to_regclass('orrery_store') IS NOT NULL, pid, backend_start
FROM pg_stat_activity WHERE pid = pg_backend_pid()
"""
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
# The column `closed` is not there in the schema before.
_TURN = f"SELECT schema, to_jsonb(orrery_store) ->> 'closed', epoch, timeline, {MARK} FROM orrery_store FOR UPDATE"  # noqa: S608  a literal of ours
_BARRIER = "UPDATE orrery_store SET seen = seen + 1, timeline = %s"

Opened = tuple[psycopg.Connection, socket.socket]
"""A connection, and a second handle of its socket."""


@dataclass(slots=True)
class SeenStore:
    """What the connections of one process have seen of the store: its epoch, the newest history, and its host."""

    epoch: int | None = None
    timeline: str = ""
    host: int = 0
    """Which host of the address served the store last."""

    def refuse_another(self, epoch: int, mark: str) -> None:
        """Raise `StoreUnavailable` for a store that was restored, or that a failover has left behind."""
        timeline = mark.partition(":")[0]
        if self.epoch not in (None, epoch):
            raise StoreUnavailable("The store was restored while it was in use: restart what uses it.")
        if timeline < self.timeline:
            raise StoreUnavailable(
                "The store's database went back to a server that a failover had left behind: stop that server."
            )
        self.epoch, self.timeline = epoch, timeline


class StoreConnection:
    """A connection for one thread. A fault of one drops the `other`, too: it may lead to a server of before."""

    def __init__(self, connection_string: str, clock: Clock, deadline: Deadline, seen: SeenStore) -> None:
        self._connection_string = connection_string
        self._clock = clock
        self._deadline = deadline
        self._seen = seen
        self._opened: Opened | None = None
        self._backend: tuple[int, datetime] | None = None
        """The newest process of the server for this connection, and when it began."""
        self.other: StoreConnection | None = None
        self.is_expired = False
        """Whether the connection is to be opened again before it is used."""
        self.warned = False
        """Whether the server warned since this was set to False: it ended a COMMIT's wait for the standby."""

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
        """Connect to the first host that serves the store, from the one on that served it last.

        A server that a failover left behind may take a connection, and then wait for a standby for ever.
        """
        hosts, errors = each_host(self._connection_string), list[Exception]()
        for number in (*range(self._seen.host, len(hosts)), *range(self._seen.host)):
            try:
                opened = self._connect_to(hosts[number])
            except (psycopg.Error, OrreryError) as error:
                errors.append(error)
            else:
                self._seen.host = number
                return opened
        raise next(filter(is_of_server, errors), errors[-1])

    def _connect_to(self, host: str) -> Opened:
        connection = connect(host)
        line = socket.socket(fileno=os.dup(connection.fileno()))
        try:
            with self._deadline.over(line):
                self._begin(connection)
        except BaseException:
            connection.close()
            line.close()
            raise
        return connection, line

    def _begin(self, connection: psycopg.Connection) -> None:
        self.warned = False  # of the connection before, whose end the server may have announced
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # else each size is another statement
        connection.add_notice_handler(self._hear)
        self._refuse(connection)
        _ = connection.execute(_SETTINGS)
        _ = connection.execute(SHARE)
        _ = connection.execute(_WAITS, {"ms": f"{self._deadline.limit * 1000 * 5 // 6:.0f}"})
        self._pass_barrier(connection)

    def _refuse(self, connection: psycopg.Connection) -> None:
        if connection.info.server_version < OLDEST_SERVER:
            raise StoreUnavailable(
                f"The store's database is PostgreSQL {connection.info.server_version // 10000}: "
                f"Orrery needs {OLDEST_SERVER // 10000} or newer."
            )
        found = connection.execute(_FOUND).fetchone()
        if found is None or found[1] != connection.info.backend_pid:
            raise StoreUnavailable(POOLER)
        self._end_former(connection, found[1:])
        if not found[0]:
            verify(None)

    def _end_former(self, connection: psycopg.Connection, backend: tuple[int, datetime]) -> None:
        """End the server's process of the connection before this one: it may have a commit still to carry out.

        One that has begun with it holds the turn, and the barrier waits for that.
        """
        if self._backend:
            _ = connection.execute(_END, self._backend)
        self._backend = backend

    def _pass_barrier(self, connection: psycopg.Connection) -> None:
        """Wait until a standby has all that this server shows, and count on after a change of timeline.

        A server that was killed shows commits after its restart that its standby may never have got.
        """
        with connection.transaction():
            schema, closed, epoch, known, mark = connection.execute(_TURN).fetchone() or (None, None, 0, "", "")
            verify(schema, closed)
            self._seen.refuse_another(epoch, mark)
            if known != mark:
                _ = connection.execute(COUNT_ON, (version_floor(self._clock.now()),))
            _ = connection.execute(_BARRIER, (mark,))
        if self.warned:
            raise StoreUnavailable("The store's database ended the wait for its standby: see its log.")

    def _hear(self, notice: Diagnostic) -> None:
        self.warned = self.warned or notice.severity_nonlocalized == "WARNING"
