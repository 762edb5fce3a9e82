"""How each connection begins: on the first host that serves the store, with all it shows on a standby as well."""

import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import psycopg
from psycopg.errors import Diagnostic

from orrery.adapters.postgres.address import connect, each_host
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import COUNT_ON, MARK
from orrery.adapters.postgres.trouble import is_of_server
from orrery.errors import OrreryError, StoreUnavailable
from orrery.store_calls import version_floor

ENDED_WAIT: Final = "The store's database ended the wait for its standby."

# The column `closed` is not there in the schema before.
_TURN = f"SELECT schema, to_jsonb(orrery_store) ->> 'closed', epoch, timeline, {MARK} FROM orrery_store FOR UPDATE"  # noqa: S608  a literal of ours
_BARRIER = "UPDATE orrery_store SET seen = seen + 1, timeline = %s"

Opened = tuple[psycopg.Connection, socket.socket]
"""A connection, and a second handle of its socket."""

Begin = Callable[[psycopg.Connection, int], None]
"""Makes a new connection to the host of that number ready, or raises."""

Judge = Callable[[int | None, str | None, int, str], None]
"""Raises for a store that may not be used, by its schema, why it is closed, its epoch, and its history's mark."""


def first_host(connection_string: str, deadline: Deadline, begin: Begin, first: int = 0) -> tuple[Opened, int]:
    """Connect to the first host with which `begin` has no error, from number `first` on; return its number, too.

    A server that a failover left behind may take a connection, and then wait for a standby for ever.
    """
    hosts, errors = each_host(connection_string), list[Exception]()
    for number in (*range(first, len(hosts)), *range(first)):
        try:
            return _connect_to(hosts[number], deadline, begin, number), number
        except (psycopg.Error, OrreryError) as error:
            errors.append(error)
    raise next(filter(is_of_server, errors), errors[-1])


def _connect_to(host: str, deadline: Deadline, begin: Begin, number: int) -> Opened:
    connection = connect(host)
    line = socket.socket(fileno=os.dup(connection.fileno()))
    try:
        with deadline.over(line):
            begin(connection, number)
    except BaseException:
        connection.close()
        line.close()
        raise
    return connection, line


def pass_barrier(connection: psycopg.Connection, judge: Judge, now: datetime) -> tuple[int, str]:
    """Wait until a standby has all that this server shows, and count on after a change of timeline.

    A server that was killed shows commits after its restart that its standby may never have got. Return the
    store's epoch and its history's mark.
    """
    with waited_for(connection, ENDED_WAIT), connection.transaction():
        schema, closed, epoch, known, mark = connection.execute(_TURN).fetchone() or (None, None, 0, "", "")
        judge(schema, closed, epoch, mark)
        if known != mark:
            _ = connection.execute(COUNT_ON, (version_floor(now),))
        _ = connection.execute(_BARRIER, (mark,))
    return epoch, mark


@contextmanager
def waited_for(connection: psycopg.Connection, sentence: str) -> Generator[None]:
    """Raise `StoreUnavailable` with `sentence` where a COMMIT in the block returned without its standby.

    The server only warns, where the wait was cancelled.
    """
    severities = list[str | None]()

    def hear(notice: Diagnostic) -> None:
        severities.append(notice.severity_nonlocalized)  # the notice itself is gone afterwards

    connection.add_notice_handler(hear)
    try:
        yield
    finally:
        connection.remove_notice_handler(hear)
    if "WARNING" in severities:
        raise StoreUnavailable(sentence)
