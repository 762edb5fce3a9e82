"""The connections of a store in PostgreSQL: what a commit meets when the store or the server changed below it."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import psycopg
import pytest

from orrery.adapters.postgres import PostgresStore, create
from orrery.errors import OutcomeUnknown, StoreUnavailable
from orrery.ports.store import MINIMUM_TTL, Absent, Committed, Conflict, Delete, Put, Store
from tests.support.clock import ManualClock
from tests.support.postgres import Server
from tests.support.waiting import until

SOON = timedelta(seconds=1)
"""For a server that does not answer: the usual limit would be waited for."""


@dataclass
class Schema:
    """A store's own schema of a server."""

    server: Server
    name: str

    @property
    def address(self) -> str:
        """The connection string of the store."""
        return self.server.address(self.name)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return what a query finds in the schema."""
        with psycopg.connect(self.address) as connection:
            return connection.execute(query.encode()).fetchall()

    def change(self, statement: str) -> None:
        """Carry out a statement in the schema."""
        with psycopg.connect(self.address) as connection:
            connection.execute(statement.encode())

    def held(self) -> object:
        """Return all that the store holds."""
        return [self.rows(f"TABLE orrery_{table} ORDER BY 1") for table in ("entries", "commits")]

    @asynccontextmanager
    async def opened(self, clock: ManualClock, limit: timedelta = SOON) -> AsyncGenerator[PostgresStore]:
        """Open the store."""
        store = await PostgresStore.open(self.address, clock, limit=limit)
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture
def schema(postgres: Server) -> Schema:
    """Return a schema with an empty store."""
    schema = Schema(postgres, postgres.new_schema())
    create(schema.address)
    return schema


@pytest.mark.parametrize("changed", ["SET epoch = epoch + 1", "SET schema = schema + 1"])
async def test_another_store_in_its_place(schema: Schema, clock: ManualClock, changed: str) -> None:
    """Nothing is stored and nothing swept in a store that was restored or migrated since it was opened."""
    async with schema.opened(clock) as store:
        await store.commit([Put("of-before", b"", MINIMUM_TTL)])
        clock.advance(timedelta(days=2).total_seconds())
        schema.change(f"UPDATE orrery_store {changed}")
        before = schema.held()
        with pytest.raises(StoreUnavailable, match=r"was restored|schema version"):
            await store.commit([Put("later", b"")])
        assert schema.held() == before


async def test_a_store_that_is_replaced_while_a_commit_waits(schema: Schema, clock: ManualClock) -> None:
    """The commit looks at the epoch once it has the turn, and not before."""
    async with schema.opened(clock) as store:
        await store.commit([Put("of-before", b"")])
        before = schema.held()
        with psycopg.connect(schema.address) as connection:
            connection.execute("UPDATE orrery_store SET epoch = epoch + 1")
            waiting = asyncio.ensure_future(store.commit([Put("later", b"")]))
            await asyncio.to_thread(until, lambda: blocked(schema))
        with pytest.raises(StoreUnavailable, match="was restored"):
            await waiting
        assert schema.held() == before


def blocked(schema: Schema) -> list[tuple[object, ...]]:
    """Return the connections of stores that wait for a lock."""
    return schema.rows(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'orrery' AND wait_event_type = 'Lock'"
    )


async def test_a_commit_in_the_socket_of_a_process_that_stalls(schema: Schema, clock: ManualClock) -> None:
    """It is not carried out once its caller has asked again and heard of a conflict."""
    async with schema.opened(clock) as store:
        others = connections(schema)
        await store.commit([Put("a", b"")])
        stalled = connections(schema) - others
        async with schema.opened(clock) as other:
            outcome = await conflict_while_stalled(store, other, stalled)
            await asyncio.to_thread(until, lambda: not stalled & connections(schema))
            assert outcome == Conflict(("taken",))
            assert await other.get("b") is None


async def conflict_while_stalled(store: Store, other: Store, stalled: set[int]) -> Committed | Conflict:
    """Return what a repeat hears of whose first attempt lies in a socket; have that read when it would succeed."""
    for pid in stalled:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(OutcomeUnknown):
            await store.commit([Put("b", b"")], [Absent("taken")], commit_id="b")
        await other.commit([Put("taken", b"")])
        outcome = await store.commit([Put("b", b"")], [Absent("taken")], commit_id="b")
        await other.commit([Delete("taken")])
        return outcome
    finally:
        for pid in stalled:
            os.kill(pid, signal.SIGCONT)


def connections(schema: Schema) -> set[int]:
    """Return the server's processes for connections of stores."""
    found = schema.rows("SELECT pid FROM pg_stat_activity WHERE application_name = 'orrery'")
    return {int(str(pid)) for (pid,) in found}
