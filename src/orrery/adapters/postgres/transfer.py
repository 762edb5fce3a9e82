"""A whole store, row by row, out of a database and into one."""

import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any, LiteralString

import psycopg

from orrery.adapters.postgres.barrier import ENDED_WAIT, first_host, pass_barrier, waited_for
from orrery.adapters.postgres.connection import LIMIT, LOCK_WAIT, patience
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import COUNT_ON, HOLD, SHARE, verify
from orrery.adapters.postgres.standby import refuse_unusable
from orrery.adapters.postgres.trouble import nothing_is_stored, unavailable
from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import StoreContents, StoredCommit, StoredRow

PAGE_LIMIT = timedelta(seconds=60)
"""How long a page of rows, or the COMMIT of all, may take."""

NOT_THE_OWNER = (
    "The user in the address does not own the store's tables: put their owner into the address for this command."
)

_PAGE = 1000

_SEIZE = f"SELECT pg_advisory_xact_lock({HOLD})"
_FOUND = "SELECT to_regclass('orrery_store') IS NOT NULL"
_SCHEMA = "SELECT schema, to_jsonb(orrery_store) ->> 'closed' FROM orrery_store"
_LAST = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orrery_versions"
_ROWS = "SELECT key, value, version, expires_at FROM orrery_entries WHERE key > %b ORDER BY key"
_COMMITS = "SELECT id, version, committed_at FROM orrery_commits ORDER BY version"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A connection for one command. Each of its calls ends by the deadline."""

    connection: psycopg.Connection
    line: socket.socket
    deadline: Deadline

    def execute(
        self, statement: LiteralString, parameters: Sequence[object] = (), *, limit: timedelta = PAGE_LIMIT
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, none where it has no result."""
        with self.deadline.over(self.line, limit):
            cursor = self.connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def commit(self, unknown: str) -> None:
        """Commit; raise `StoreUnavailable`, with the sentence `unknown` when it may be done all the same."""
        try:
            with waited_for(self.connection, f"{ENDED_WAIT} {unknown}"):
                _ = self.execute("COMMIT")
        except psycopg.Error as error:
            if nothing_is_stored(error):
                raise
            raise StoreUnavailable(f"{unavailable(error)} {unknown}") from error

    def select(
        self, name: str, statement: LiteralString, parameters: Sequence[object] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement page by page, within a transaction; `name` is that of its cursor."""
        with self.connection.cursor(name, binary=True) as cursor:
            with self.deadline.over(self.line, PAGE_LIMIT):
                _ = cursor.execute(statement, parameters)
            while page := self._page(cursor):
                yield from page

    def _page(self, cursor: psycopg.ServerCursor[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        with self.deadline.over(self.line, PAGE_LIMIT):
            return cursor.fetchmany(_PAGE)

    def insert(self, statement: LiteralString, types: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
        """Send rows by a COPY for each page of them."""
        while page := list(islice(rows, _PAGE)):
            with self.deadline.over(self.line, PAGE_LIMIT), self.connection.cursor().copy(statement) as copy:
                copy.set_types(types)
                for row in page:
                    copy.write_row(row)


@contextmanager
def transfer(connection_string: str, clock: Clock, *, limit: timedelta = LIMIT) -> Generator[Transfer]:
    """Yield a connection, whose open transaction is undone in the end; raise `StoreUnavailable`.

    It is to the host that a service would use: where there is a store, it passes the barrier, within `limit`. A
    server that a failover left behind, or whose standby is missing, is neither read nor written.
    """
    with closing(Deadline(limit)) as deadline:
        try:
            (connection, line), _ = first_host(connection_string, deadline, partial(_begin, clock, limit))
            with closing(connection), closing(line):
                yield Transfer(connection, line, deadline)
        except psycopg.Error as error:
            raise unavailable(error) from error


def _begin(clock: Clock, limit: timedelta, connection: psycopg.Connection, _host: int) -> None:
    refuse_unusable(connection)
    _ = connection.execute(LOCK_WAIT, (patience(limit),))
    if (connection.execute(_FOUND).fetchone() or (False,))[0]:
        _ = pass_barrier(connection, _allow_every_store, clock.now())


def _allow_every_store(*_: object) -> None:
    """Let a store be moved, migrated or opened again whatever its state is: its command decides."""


@contextmanager
def reading(
    connection_string: str, clock: Clock, after: bytes = b"", *, may_be_closed: bool = False
) -> Generator[StoreContents]:
    """Yield what the store holds, its rows beyond `after`; it may be in use.

    Raises `StoreMissing` and, also while it is read, `StoreUnavailable`.
    """
    with transfer(connection_string, clock) as source:
        _ = require_store(source, may_be_closed=may_be_closed)
        _ = source.execute(SHARE)  # first: a snapshot from before a restore shows none of its tables
        _ = source.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        rows, commits = source.select("rows", _ROWS, (after,)), source.select("commits", _COMMITS)
        yield StoreContents(map(StoredRow._make, rows), map(StoredCommit._make, commits), last_version_of(source))


def load(connection_string: str, clock: Clock, contents: StoreContents, *, may_be_closed: bool = False) -> None:
    """Add `contents` to the store in one transaction; raise as `reading`, and `Invalid` while it is in use."""
    with transfer(connection_string, clock) as target:
        _ = target.execute("BEGIN")
        _ = require_store(target, may_be_closed=may_be_closed)
        seize(target)
        fill(target, contents)
        target.commit("Whether the rows were added is not known: look, and add those that are missing.")


def seize(target: Transfer) -> None:
    """Keep every process away from the store until the transaction ends; raise `Invalid` while one uses it."""
    try:
        # A connection that was just closed is there for a moment.
        _ = target.execute(f"SET LOCAL lock_timeout = '1s'; {_SEIZE}; SET LOCAL lock_timeout = '10s'")
    except psycopg.errors.LockNotAvailable:
        raise Invalid(
            "The store's database is in use: stop the service on every machine, and other commands, first. "
            "`pg_stat_activity` shows who is connected as `orrery`."
        ) from None


def fill(target: Transfer, contents: StoreContents) -> None:
    """Add `contents` within a transaction."""
    entries = "COPY orrery_entries (key, value, version, expires_at) FROM STDIN (FORMAT BINARY)"
    target.insert(entries, ("bytea", "bytea", "int8", "int8"), contents.rows)
    commits = "COPY orrery_commits (id, version, committed_at) FROM STDIN (FORMAT BINARY)"
    target.insert(commits, ("bytea", "int8", "int8"), contents.commits)
    if contents.last_version:
        count_on(target, contents.last_version)


def count_on(target: Transfer, version: int) -> None:
    """Have the next commit get a greater version than `version`, and than any before."""
    _ = target.execute(COUNT_ON, (version,))


def last_version_of(source: Transfer) -> int:
    """Return the newest version that was given out, 0 for a new store."""
    return source.execute(_LAST)[0][0]


def is_there(source: Transfer) -> bool:
    """Return whether there is a store in the database."""
    return source.execute(_FOUND)[0][0]


def require_store(source: Transfer, *, may_be_closed: bool = False) -> str | None:
    """Raise as `verify` does, or where the store may be closed, return why it is."""
    schema, closed = source.execute(_SCHEMA)[0] if is_there(source) else (None, None)
    verify(schema, None if may_be_closed else closed)
    return closed
