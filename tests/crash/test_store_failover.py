"""The store in PostgreSQL when its primary is killed, frozen or demoted: what was acknowledged stays."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres import PostgresStore, create
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.app.store_place import back_up, put_in_place
from orrery.errors import OutcomeUnknown, StoreError, StoreUnavailable
from orrery.ports.store import Committed, Put, Store
from tests.support.postgres import Server, a_pair, skip_without_postgres, together
from tests.support.soak import rounds
from tests.support.waiting import PATIENCE, eventually

CALLERS = 32
PARTS = ("a", "b", "c")
SOON = timedelta(seconds=1)
"""For a server that does not answer: the usual limit would be waited for."""


@pytest.fixture
def pair() -> Generator[tuple[Server, Server]]:
    """Yield a primary and a standby that its commits wait for, with a store on both."""
    skip_without_postgres()
    with a_pair() as (primary, standby):
        create(primary.address())
        yield primary, standby


@asynccontextmanager
async def opened(*servers: Server, limit: timedelta = timedelta(seconds=6)) -> AsyncGenerator[PostgresStore]:
    """Open the store on whichever server is the primary."""
    store = await PostgresStore.open(together(*servers), SystemClock(), limit=limit)
    try:
        yield store
    finally:
        await store.close()


class Load:
    """Callers that commit sets of three keys, and repeat what was not answered, until they are stopped."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.acknowledged: dict[str, int] = {}
        self.stopped = False
        self._aim, self._reached = 0, asyncio.Event()

    async def run(self) -> None:
        """Let all callers commit."""
        await asyncio.gather(*(self._call(caller) for caller in range(CALLERS)))

    async def reach(self, count: int) -> None:
        """Wait until so many more commits were acknowledged."""
        self._aim = len(self.acknowledged) + count
        self._reached.clear()
        async with asyncio.timeout(PATIENCE):
            await self._reached.wait()

    async def _call(self, caller: int) -> None:
        number = 0
        while not self.stopped:
            name = f"{caller:02}-{number:05}"
            outcome = await self._commit(name)
            assert isinstance(outcome, Committed)
            self.acknowledged[name] = outcome.version
            if len(self.acknowledged) >= self._aim:
                self._reached.set()
            number += 1

    async def _commit(self, name: str) -> object:
        while True:
            try:
                writes = [Put(f"set:{name}:{part}", name.encode()) for part in PARTS]
                return await self._store.commit(writes, commit_id=name)
            except StoreError:
                await checkpoint()


async def held(store: Store) -> dict[str, int]:
    """Return the version of each set; fail where one is torn."""
    versions: dict[str, set[int]] = {}
    parts, after = Counter[str](), None
    while page := await store.scan("set:", after=after, limit=1000):
        for entry in page:
            name = entry.value.decode()
            versions.setdefault(name, set()).add(entry.version)
            parts[name] += 1
        after = page[-1].key
    assert set(parts.values()) <= {len(PARTS)}
    assert all(len(found) == 1 for found in versions.values())
    return {name: found.pop() for name, found in versions.items()}


@pytest.mark.parametrize("_round", range(rounds(1)))
async def test_a_killed_primary_loses_nothing_acknowledged(pair: tuple[Server, Server], _round: int) -> None:
    """The standby is promoted, callers learn what became of their commits, and no version is given out twice."""
    primary, standby = pair
    async with opened(primary, standby) as store:
        load = Load(store)
        running = asyncio.create_task(load.run())
        await load.reach(200)
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(standby.wait_for_none)
        await asyncio.to_thread(standby.promote)
        await load.reach(200)
        load.stopped = True
        await running
        found = await held(store)
    assert found == load.acknowledged
    assert len(set(found.values())) == len(found)


async def test_a_standby_that_lags_loses_some(pair: tuple[Server, Server]) -> None:
    """The control: without a wait for a standby that lags, a kill loses what was acknowledged, and that is seen.

    Even then no version is given out twice: the store counts on from the time.
    """
    primary, standby = pair
    await asyncio.to_thread(primary.wait_for_none)
    await asyncio.to_thread(standby.freeze)  # so that it has not even heard that the store was opened
    async with opened(primary) as store:
        load = Load(store)
        running = asyncio.create_task(load.run())
        await load.reach(300)
        load.stopped = True
        await running
    await asyncio.to_thread(primary.kill)
    await asyncio.to_thread(standby.kill)  # with what is in its socket
    await asyncio.to_thread(standby.start)
    await asyncio.to_thread(standby.promote)
    async with opened(standby) as store:
        kept = await held(store)
        outcome = await store.commit([Put("later", b"")])
    assert len(kept) < len(load.acknowledged)
    assert isinstance(outcome, Committed)
    assert outcome.version > max(load.acknowledged.values())


async def test_nothing_is_shown_that_no_standby_has(pair: tuple[Server, Server]) -> None:
    """A primary that comes back alone shows no commit that its standby, the next primary, never got."""
    primary, standby = pair
    async with opened(primary, limit=SOON) as store:
        await store.commit([Put("first", b"")])
        await asyncio.to_thread(standby.kill)
        with pytest.raises(OutcomeUnknown):
            await store.commit([Put("sale", b"")], commit_id="sale")
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(primary.start)
        with pytest.raises(StoreUnavailable):
            await store.get("sale")
        with pytest.raises(StoreUnavailable):
            await store.commit([Put("sale", b"")], commit_id="sale")
    await asyncio.to_thread(primary.kill)
    await asyncio.to_thread(standby.start)
    await asyncio.to_thread(standby.wait_for_none)
    await asyncio.to_thread(standby.promote)
    async with opened(standby) as store:
        assert await store.get("sale") is None
        assert await store.get("first") is not None


async def test_a_frozen_primary_is_given_up(pair: tuple[Server, Server]) -> None:
    """Its kernel still acknowledges, so the socket is shut down: nothing is known of a commit; a read says so."""
    primary, standby = pair
    async with opened(primary, standby, limit=SOON) as store:
        await store.commit([Put("a", b"")])
        await asyncio.to_thread(primary.freeze)
        with pytest.raises(OutcomeUnknown, match="repeat"):
            await store.commit([Put("b", b"")], commit_id="b")
        with pytest.raises(StoreUnavailable, match="is only a standby: see that its primary runs"):
            await store.get("a")
        await asyncio.to_thread(primary.freeze, signal.SIGCONT)
        assert await eventually_answered(store, "a") is not None
        assert isinstance(await store.commit([Put("b", b"")], commit_id="b"), Committed)


async def test_a_wait_for_the_standby_that_is_ended_is_no_success(pair: tuple[Server, Server]) -> None:
    """PostgreSQL lets a cancelled COMMIT succeed with a warning; whether it will stay is not known."""
    primary, standby = pair
    async with opened(primary) as store:
        await store.commit([Put("a", b"")])
        await asyncio.to_thread(standby.freeze)
        waiting = asyncio.ensure_future(store.commit([Put("b", b"")]))
        await asyncio.to_thread(eventually, lambda: cancel_the_wait(primary))
        with pytest.raises(OutcomeUnknown, match="ended the wait for its standby"):
            await waiting
        await asyncio.to_thread(standby.freeze, signal.SIGCONT)
        assert isinstance(await store.commit([Put("c", b"")]), Committed)
        assert await store.get("c") is not None


def cancel_the_wait(primary: Server) -> None:
    """Cancel the one backend that waits for the standby."""
    with primary.connected() as connection:
        found = connection.execute(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ).fetchall()
    assert found == [(True,)]


async def test_a_primary_that_was_demoted_under_the_connection(pair: tuple[Server, Server]) -> None:
    """A server that takes no writes any more is left, and the new primary is looked for."""
    primary, standby = pair
    async with opened(primary, standby) as store:
        await store.commit([Put("a", b"")])
        await asyncio.to_thread(standby.wait_for_none)
        await asyncio.to_thread(standby.promote)
        await asyncio.to_thread(primary.wait_for_none)
        with primary.connected() as connection:  # as a cluster does that flips roles below open sockets
            connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            connection.execute("SELECT pg_reload_conf()")
        outcome = await committed_at_last(store)
        entry = await store.get("b")  # of the new primary, too
    assert entry is not None
    assert entry.version == outcome.version


async def committed_at_last(store: Store) -> Committed:
    """Commit until it is done."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                outcome = await store.commit([Put("b", b"")], commit_id="b")
            except StoreError:
                await checkpoint()
            else:
                assert isinstance(outcome, Committed)
                return outcome


async def eventually_answered(store: Store, key: str) -> object:
    """Read a key as soon as the store can be read again."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await store.get(key)
            except StoreUnavailable:
                await checkpoint()


async def test_a_backend_that_crashed(pair: tuple[Server, Server]) -> None:
    """All connections end with a warning then, and the server starts again: so does the store."""
    primary, standby = pair
    async with opened(primary, standby) as store:
        await store.commit([Put("a", b"")])
        with primary.connected() as connection:
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'orrery'"
            ).fetchall()
        os.kill(found[0][0], signal.SIGKILL)
        assert await eventually_answered(store, "a") is not None
        await committed_at_last(store)


async def test_a_server_that_a_failover_left_behind(pair: tuple[Server, Server]) -> None:
    """A process that has sold on the new primary does not go back to the old one, which knows nothing of that."""
    primary, standby = pair
    async with opened(standby, primary) as store:
        await store.commit([Put("a", b"")])
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(standby.wait_for_none)
        await asyncio.to_thread(standby.promote)
        await committed_at_last(store)
        await asyncio.to_thread(standby.kill)
        await asyncio.to_thread(primary.start)
        await asyncio.to_thread(primary.wait_for_none)
        with pytest.raises(StoreUnavailable, match="left behind"):
            await store.get("a")


async def test_a_server_that_waits_for_a_standby_is_passed_over(pair: tuple[Server, Server]) -> None:
    """A failover left it behind: it takes connections, and would keep each from the new primary for ever."""
    primary, standby = pair
    async with opened(primary, standby, limit=SOON) as store:
        await store.commit([Put("a", b"")])
        await asyncio.to_thread(standby.wait_for_none)
        await asyncio.to_thread(standby.promote)
        outcome = await committed_at_last(store)
        entry = await store.get("b")  # of the new primary, too
        assert entry is not None
        assert entry.version == outcome.version
    async with opened(primary, standby, limit=SOON) as store:
        assert await store.get("b") == entry


async def test_commands_leave_a_server_that_a_failover_left_behind(
    pair: tuple[Server, Server], tmp_path: Path
) -> None:
    """They go where a service goes: what is saved, vacuumed and replaced is the store that sells."""
    primary, standby = pair
    place = PostgresDatabase(together(primary, standby), SystemClock())
    await asyncio.to_thread(standby.wait_for_none)
    await asyncio.to_thread(standby.promote)
    async with opened(primary, standby, limit=SOON) as store:
        outcome = await store.commit([Put("sale", b"")])
        assert isinstance(outcome, Committed)
        assert place.last_version(0) == outcome.version
        await asyncio.to_thread(back_up, place, tmp_path / "snapshot.db")
        assert await store.scrub()
    assert (vacuumed(primary), vacuumed(standby)) == (False, True)
    await asyncio.to_thread(put_in_place, tmp_path / "snapshot.db", place)
    assert len(place.remains()) == 1
    async with opened(standby) as store:
        assert await store.get("sale") is not None
    assert place.closed() is None
    assert place.migrate() == []


def vacuumed(server: Server) -> bool:
    """Return whether the entries were vacuumed by a command."""
    with server.connected() as connection:
        found = connection.execute(
            "SELECT last_vacuum IS NOT NULL FROM pg_stat_user_tables WHERE relname LIKE 'orrery_entries%'"
        ).fetchall()
    return (True,) in found


def test_a_backup_without_the_standby_is_refused(pair: tuple[Server, Server], tmp_path: Path) -> None:
    """Nothing tells such a server from one that a failover left behind: the owner is told what is missing."""
    primary, standby = pair
    standby.kill()
    place = PostgresDatabase(primary.address(), SystemClock())
    eventually(lambda: expect_none_connected(primary))
    with pytest.raises(StoreUnavailable, match="waits for a standby"):
        back_up(place, tmp_path / "snapshot.db")
    assert list(tmp_path.iterdir()) == []


def expect_none_connected(primary: Server) -> None:
    """Fail while the primary counts a standby."""
    with primary.connected() as connection:
        assert connection.execute("SELECT FROM pg_stat_replication").fetchall() == []
