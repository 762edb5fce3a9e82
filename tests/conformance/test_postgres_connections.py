"""The connections of a store in PostgreSQL: what a commit meets when the store or the server changed below it."""

import asyncio
import os
import signal
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres import PostgresStore, create
from orrery.adapters.postgres.connection import LIMIT, SeenStore, StoreConnection
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.transfer import transfer
from orrery.errors import OutcomeUnknown, StoreUnavailable
from orrery.ports.store import MINIMUM_TTL, Absent, Committed, Conflict, Delete, Put, Store
from tests.conformance.postgres_schema import SOON, Schema
from tests.conformance.relayed import relayed
from tests.support.clock import ManualClock, WallClock, settled
from tests.support.postgres import running_postgres
from tests.support.waiting import until

DAY = 24 * 60 * 60.0


@pytest.mark.parametrize("changed", ["SET epoch = epoch + 1", "SET schema = schema + 1"])
async def test_another_store_in_its_place(schema: Schema, clock: ManualClock, changed: str) -> None:
    """Nothing is stored and nothing swept in a store that was restored or migrated since it was opened."""
    async with schema.opened(clock) as store:
        await store.commit([Put("of-before", b"", MINIMUM_TTL)])
        clock.advance(2 * DAY)
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


async def test_a_commit_that_stalls_while_another_host_is_tried(schema: Schema, clock: ManualClock) -> None:
    """What is to end once this host answers again is not forgotten for a host that was of no use."""
    with running_postgres() as left_behind:
        create(left_behind.address())
        left_behind.name_standbys("nobody")
        both = make_conninfo(
            schema.address, host="127.0.0.1,127.0.0.1", port=f"{schema.server.port},{left_behind.port}"
        )
        seen, deadline = SeenStore(), Deadline(LIMIT)
        connection = StoreConnection(both, clock, deadline, seen)
        with connection.opened() as opened:
            stalled = opened.info.backend_pid
            os.kill(stalled, signal.SIGSTOP)
            opened.pgconn.send_query(b"INSERT INTO orrery_entries VALUES ('late', '', 1, NULL)")
            opened.pgconn.flush()
        connection.drop()
        seen.host = 1  # as after a moment in which the first one was not reached
        with connection.opened() as opened:
            assert opened.info.port == schema.server.port
        os.kill(stalled, signal.SIGCONT)
        connection.drop()
        deadline.close()
        await asyncio.to_thread(until, lambda: stalled not in connections(schema))
        assert schema.rows("SELECT key FROM orrery_entries") == []


async def test_a_store_that_was_made_again(schema: Schema, clock: ManualClock) -> None:
    """A node that had the lost one open does not take it for that."""
    async with schema.opened(clock, LIMIT) as store:
        await store.commit([Put("a", b"")])
        schema.change("DROP TABLE orrery_store, orrery_entries, orrery_commits; DROP SEQUENCE orrery_versions")
        create(schema.address)
        with pytest.raises(StoreUnavailable):
            await store.commit([Put("b", b"")])
        with pytest.raises(StoreUnavailable, match="was restored"):
            await store.commit([Put("b", b"")])
    assert schema.rows("SELECT key FROM orrery_entries") == []


async def test_a_command_that_takes_too_long(schema: Schema, clock: ManualClock) -> None:
    """A call of a command ends by its limit, whatever the server does."""
    with pytest.raises(StoreUnavailable), transfer(schema.address, clock) as target:
        _ = target.execute("SELECT pg_sleep(60)", limit=timedelta(seconds=0.2))


def connections(schema: Schema) -> set[int]:
    """Return the server's processes for connections of stores."""
    found = schema.rows("SELECT pid FROM pg_stat_activity WHERE application_name = 'orrery'")
    return {int(str(pid)) for (pid,) in found}


async def test_a_lock_that_is_held_too_long(schema: Schema, clock: ManualClock) -> None:
    """The commit is not stored, and its caller learns why, before the deadline shuts the line down."""
    async with schema.opened(clock) as store:
        await store.commit([Put("a", b"")])
        with psycopg.connect(schema.address) as connection:
            connection.execute("SELECT FROM orrery_store FOR UPDATE")
            with pytest.raises(StoreUnavailable, match="locked by another transaction"):
                await store.commit([Put("b", b"")])


async def test_a_machine_that_is_lost_within_a_transaction(schema: Schema, clock: ManualClock) -> None:
    """The server ends its connection: it would hold the turn, and every sale of the other machines would wait."""
    async with relayed(schema.server.port, upward=until_the_turn) as port:
        lost = schema.address.replace(f"port={schema.server.port}", f"port={port}")
        with pytest.raises(StoreUnavailable):
            await PostgresStore.open(lost, clock, limit=SOON)
        async with schema.opened(clock, LIMIT) as store:
            assert isinstance(await store.commit([Put("a", b"")]), Committed)


def until_the_turn(sent: bytes) -> bytes:
    """Pass on what a node sends, until it has taken the turn."""
    return b"" if b"UPDATE orrery_store" in sent else sent


async def test_what_has_expired_is_swept(schema: Schema) -> None:
    """Entries, and the ids of commits older than a day or of a time to come, at most once a second.

    A node whose clock is wrong sweeps nothing that is not over by the database's clock, too.
    """
    clock = WallClock(SystemClock().now())
    clock.put(timedelta(days=-2))
    async with schema.opened(clock) as store:
        await store.commit([Put("first", b"", MINIMUM_TTL)], commit_id="first")
        clock.put(timedelta(days=2))
        await store.commit([Put("now", b"", MINIMUM_TTL)], commit_id="now")
        assert schema.rows("SELECT key FROM orrery_entries") == [(b"now",)]
        assert schema.rows("SELECT id FROM orrery_commits") == [(b"now",)]
        clock.put(timedelta(days=2))
        await store.commit([Put("ahead", b"", MINIMUM_TTL)], commit_id="ahead")
        assert schema.rows("SELECT key FROM orrery_entries ORDER BY key") == [(b"ahead",), (b"now",)]
        assert schema.rows("SELECT id FROM orrery_commits ORDER BY id") == [(b"ahead",), (b"now",)]
        clock.put(timedelta(days=-2))
        await store.commit([Delete("now"), Put("back", b"")], commit_id="back")
        assert schema.rows("SELECT id FROM orrery_commits ORDER BY id") == [(b"back",), (b"now",)]
        schema.change("UPDATE orrery_entries SET expires_at = 0 WHERE key = 'ahead'")
        clock.put(timedelta(seconds=0.9))
        await store.commit([Put("soon", b"")])
        assert (b"ahead",) in schema.rows("SELECT key FROM orrery_entries")
        clock.put(timedelta(seconds=0.2))
        await store.commit([Put("later", b"")])
        assert schema.rows("SELECT key FROM orrery_entries ORDER BY key") == [(b"back",), (b"later",), (b"soon",)]


@pytest.mark.parametrize("state", ["40001", "40P01"])
async def test_a_transaction_that_the_server_undid(schema: Schema, clock: ManualClock, state: str) -> None:
    """It is sent again, three times at most."""
    async with schema.opened(clock) as store:
        schema.refuse(state, "nextval('attempts') <= 3")
        assert isinstance(await store.commit([Put("a", b"")]), Committed)
        schema.refuse(state, "nextval('attempts') <= 4")
        with pytest.raises(StoreUnavailable, match=state):
            await store.commit([Put("b", b"")])
        assert isinstance(await store.commit([Put("c", b"")]), Committed)
    assert schema.rows("SELECT key FROM orrery_entries ORDER BY key") == [(b"a",), (b"c",)]


@pytest.mark.parametrize(("state", "stored"), [("23514", ["a", "c"]), ("53100", [])])
async def test_a_group_of_which_one_is_refused(
    schema: Schema, clock: ManualClock, state: str, stored: list[str]
) -> None:
    """The others go through where the reason may be that one; a full disk is a reason for all of them."""
    schema.refuse(state, "NEW.key = 'b'")
    async with schema.opened(clock, LIMIT) as store:
        await store.commit([Put("first", b"")])
        with psycopg.connect(schema.address) as connection:
            connection.execute("SELECT FROM orrery_store FOR UPDATE")
            waiting = asyncio.ensure_future(store.commit([Put("first", b"")]))
            await asyncio.to_thread(until, lambda: blocked(schema))
            group = [asyncio.ensure_future(store.commit([Put(key, b"")])) for key in "abc"]
            await settled()
        outcomes = await asyncio.gather(*group, return_exceptions=True)
        assert isinstance(await waiting, Committed)
    assert [key for key, one in zip("abc", outcomes, strict=True) if isinstance(one, Committed)] == stored
    assert all(isinstance(one, (Committed, StoreUnavailable)) for one in outcomes)
