"""What answers and is not usable: a database that waits for a standby which is not connected, and a pooler."""

import os
import socket
from contextlib import suppress
from typing import Final

import psycopg

from orrery.adapters.postgres.address import connect
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import ANSWERING, AWAITED, OLDEST_SERVER
from orrery.errors import StoreUnavailable

POOLER = (
    "The address of the store leads to a connection pooler: "
    "give the server's own address, since a pooler drops the settings of a connection."
)
_LOOK: Final = f"""
SELECT pg_backend_pid(), {AWAITED}, count(*) FILTER (WHERE {ANSWERING}) FROM pg_stat_replication
"""  # noqa: S608  literals of ours
_SOON = 2
"""Seconds for a server to answer: where it does not even do that, the reason is another one."""


def refuse_without_standbys(awaited: int, connected: int) -> None:
    """Raise `StoreUnavailable` where no commit returns."""
    if connected < awaited:
        raise StoreUnavailable(
            f"The store's database waits for {_number(awaited)}, and {connected or 'none'} that it waits for is "
            "connected, so every sale waits: start the standby, or make a new one."
        )


def _number(standbys: int) -> str:
    return "a standby" if standbys == 1 else f"{standbys} standbys"


def refuse_old(connection: psycopg.Connection) -> None:
    """Raise `StoreUnavailable` for a server that does not know our statements."""
    if connection.info.server_version < OLDEST_SERVER:
        raise StoreUnavailable(
            f"The store's database is PostgreSQL {connection.info.server_version // 10000}: "
            f"Orrery needs {OLDEST_SERVER // 10000} or newer."
        )


def refuse_unusable(connection: psycopg.Connection) -> None:
    """Raise `StoreUnavailable` for an old server, a pooler, and where a first commit would wait for ever."""
    refuse_old(connection)
    process, awaited, connected = connection.execute(_LOOK).fetchone() or (0, 0, 0)
    if process != connection.info.backend_pid:
        raise StoreUnavailable(POOLER)
    refuse_without_standbys(awaited, connected)


def explained(connection_string: str, deadline: Deadline, error: StoreUnavailable) -> StoreUnavailable:
    """Return why a new connection was not usable: `error`, or the missing standby, which the barrier waits for."""
    try:
        with (
            suppress(psycopg.Error),
            connect(connection_string, _SOON) as found,
            socket.socket(fileno=os.dup(found.fileno())) as line,
            deadline.over(line),
        ):
            refuse_unusable(found)
    except StoreUnavailable as unusable:
        return unusable
    return error
