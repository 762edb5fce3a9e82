"""One connection to the database, opened when it is needed, replaced after an error, and ended at a deadline."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.errors import Diagnostic
from psycopg.types.numeric import Int8BinaryDumper

from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import OLDEST_SERVER, VERSIONS_PER_SECOND, verify
from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock

LIMIT = timedelta(seconds=6)
"""How long a call may wait for the database."""

_CONNECTION = {
    "application_name": "orrery",
    "client_encoding": "UTF8",
    "connect_timeout": 5,  # for each host; a frozen one may be the first
    "target_session_attrs": "read-write",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 4000,
}

_SETTINGS = """
SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '5s'; SET synchronous_commit = on;
SET jit = off; SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off
"""
"""The plans of an empty table must not stay: the statements are made for lookups by key."""

_FOUND = "SELECT to_regclass('orrery_store') IS NOT NULL, pg_backend_pid()"
_TURN = """
SELECT schema, epoch, timeline, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM orrery_store FOR UPDATE
"""
_BARRIER = "UPDATE orrery_store SET seen = seen + 1, timeline = %s"
_COUNT_ON = "SELECT setval('orrery_versions', greatest(last_value, %s)) FROM orrery_versions"


class StoreConnection:
    """A connection for one thread."""

    def __init__(self, connection_string: str, clock: Clock, deadline: Deadline) -> None:
        self._connection_string = connection_string
        self._clock = clock
        self._deadline = deadline
        self._connection: psycopg.Connection | None = None
        self._epoch: int | None = None
        self.warned = False
        """Whether the server warned since this was set to False: it ended a COMMIT's wait for the standby."""

    @contextmanager
    def opened(self) -> Generator[psycopg.Connection]:
        """Yield the connection, opened again after `drop`, for calls that end by the deadline."""
        if self._connection is None:
            self._connection = self._connect()
        with self._deadline.over(self._connection.fileno()):
            yield self._connection

    def drop(self) -> None:
        """Close the connection, and with it an open transaction."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(make_conninfo(self._connection_string, **_CONNECTION), autocommit=True)
        try:
            with self._deadline.over(connection.fileno()):
                self._begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: psycopg.Connection) -> None:
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # else each size is another statement
        connection.add_notice_handler(self._hear)
        self._refuse(connection)
        _ = connection.execute(_SETTINGS)
        self._pass_barrier(connection)

    def _refuse(self, connection: psycopg.Connection) -> None:
        found = connection.execute(_FOUND).fetchone()
        if connection.info.server_version < OLDEST_SERVER:
            raise StoreUnavailable(
                f"The store's database is PostgreSQL {connection.info.server_version // 10000}: "
                f"Orrery needs {OLDEST_SERVER // 10000} or newer."
            )
        if found is None or not found[0]:
            verify(None)
        if found is not None and found[1] != connection.info.backend_pid:
            raise StoreUnavailable(
                "The address of the store leads to a connection pooler: "
                "give the server's own address, since a pooler drops the settings of a connection."
            )

    def _pass_barrier(self, connection: psycopg.Connection) -> None:
        """Wait until a standby has all that this server shows, and count on after a change of timeline.

        A server that was killed shows commits after its restart that its standby may never have got.
        """
        with connection.transaction():
            schema, epoch, known, timeline = connection.execute(_TURN).fetchone() or (None, 0, "", "")
            verify(schema)
            self._refuse_restored(epoch)
            if known not in ("", timeline):
                floor = int(self._clock.now().timestamp()) * VERSIONS_PER_SECOND
                _ = connection.execute(_COUNT_ON, (floor,))
            _ = connection.execute(_BARRIER, (timeline,))
        if self.warned:
            raise StoreUnavailable("The store's database ended the wait for its standby: see its log.")

    def _refuse_restored(self, epoch: int) -> None:
        if self._epoch not in (None, epoch):
            raise StoreUnavailable("The store was restored while it was in use: restart what uses it.")
        self._epoch = epoch

    def _hear(self, notice: Diagnostic) -> None:
        self.warned = self.warned or notice.severity_nonlocalized == "WARNING"
