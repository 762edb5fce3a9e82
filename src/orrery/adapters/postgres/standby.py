"""A database that answers and takes no commit, because it waits for a standby that is not connected."""

import os
import socket
from contextlib import suppress

import psycopg

from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.risks import Setup
from orrery.adapters.postgres.statements import INSPECT
from orrery.errors import StoreUnavailable

_WAITS = (
    "The store's database waits for a standby, and none that it waits for is connected, so every sale waits: "
    "start the standby, or make a new one."
)
_SOON = 2
"""Seconds for a server to answer: where it does not even do that, the reason is another one."""


def refuse_without_standby(setup: Setup) -> None:
    """Raise `StoreUnavailable` where no commit returns."""
    if setup.waits_for_standbys and not setup.standbys:
        raise StoreUnavailable(_WAITS)


def explained(connection_string: str, deadline: Deadline, error: StoreUnavailable) -> StoreUnavailable:
    """Return why a new connection was not usable: `error`, or the missing standby, which the barrier waits for."""
    try:
        with (
            suppress(psycopg.Error),
            psycopg.connect(connection_string, connect_timeout=_SOON, target_session_attrs="read-write") as found,
            socket.socket(fileno=os.dup(found.fileno())) as line,
            deadline.over(line),
        ):
            if row := found.execute(INSPECT).fetchone():
                refuse_without_standby(Setup(*row[1:]))
    except StoreUnavailable as waits:
        return waits
    return error
