"""Limits that hold over all nodes: exactly as many are let through as one node would let through."""

import asyncio
from datetime import timedelta

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.checkout.collections import CheckoutRecords
from orrery.edge.auth import FIRST_DELAY, FORGOTTEN_AFTER, LONGEST_DELAY, MOST_GUESSES, AdminPassword, GuessLimiter
from orrery.edge.problem import Problem
from orrery.edge.rate_limit import Limit, RateLimit, SharedLimit
from orrery.errors import StoreUnavailable
from orrery.runtime.shared_times import SharedTimes, wrong_passwords_of
from orrery.syntax.admin_password import hashed
from tests.support.clock import WallClock
from tests.support.unreliable_store import UnreliableStore

LIMITS = Limit(5, 60), Limit(12, 3600)
PASSWORD = b"correct-horse-battery"


class Nodes:
    """As many nodes as are asked for, over one store."""

    def __init__(self) -> None:
        self.clock = WallClock()
        self.store = UnreliableStore(MemoryStore(self.clock))

    def limit(self) -> SharedLimit:
        """Return the limit of another node."""
        times = CheckoutRecords(self.store, self.clock, b"key").started
        return SharedLimit(RateLimit(self.clock, *LIMITS, wider=4), SharedTimes(times, b"key", 48))

    def door(self) -> AdminPassword:
        """Return the owner's door of another node, or of one after a restart."""
        times = wrong_passwords_of(self.store, self.clock, timedelta(seconds=FORGOTTEN_AFTER))
        shared = SharedTimes(times, b"key", MOST_GUESSES)
        return AdminPassword(hashed(PASSWORD), GuessLimiter(self.clock, shared))

    async def guess(self, door: AdminPassword) -> float:
        """Return how many seconds a wrong password waits."""
        task = asyncio.create_task(door.matches(b"wrong"))
        return await self._waited(task)

    async def _waited(self, task: asyncio.Task[bool]) -> float:
        seconds = 0.0
        while True:
            for _ in range(20):
                await checkpoint()
            if task.done():
                assert not await task
                return seconds
            self.clock.advance(FIRST_DELAY)
            seconds += FIRST_DELAY


@pytest.fixture
def nodes() -> Nodes:
    """Return nodes over a new store."""
    return Nodes()


async def test_two_nodes_let_through_what_one_would(nodes: Nodes) -> None:
    """However the requests are spread, five a minute and twelve an hour are let through."""
    limits = [nodes.limit() for _ in range(2)]
    let = 0
    for minute in range(4):
        waits = [await limits[number % 2].wait("a") for number in range(12)]
        let += waits.count(0)
        assert waits.count(0) == (5, 5, 2, 0)[minute]
        nodes.clock.advance(60)
    assert let == 12


async def test_requests_at_once_are_let_through_as_often(nodes: Nodes) -> None:
    """Three nodes that are asked at the same moment let five of 60 through."""
    limits = [nodes.limit() for _ in range(3)]
    waits = await asyncio.gather(*(one.wait("a") for _ in range(20) for one in limits))
    assert waits.count(0) == 5


async def test_a_network_has_more(nodes: Nodes) -> None:
    """What contains several scopes may have four times as many, over all nodes."""
    limits = [nodes.limit() for _ in range(2)]
    waits = [await limits[number % 2].wait(f"a{number % 9}", "net") for number in range(45)]
    assert waits.count(0) == 20


async def test_what_another_node_refuses_is_counted_nowhere(nodes: Nodes) -> None:
    """Who keeps knocking at both nodes is let in when the time has come, as if they had waited quietly."""
    here, there = nodes.limit(), nodes.limit()
    assert [await here.wait("a") for _ in range(5)] == [0] * 5
    for second in range(60):
        assert await there.wait("a") == 60 - second
        nodes.clock.advance(1)
    assert await there.wait("a") == 0


async def test_a_flood_reads_and_writes_nothing(nodes: Nodes) -> None:
    """What a node refuses by its own count asks the store nothing, and nothing refused is written."""
    here, there = nodes.limit(), nodes.limit()
    assert [await here.wait("a") for _ in range(6)][-1] == 60
    nodes.store.reads.clear()
    before = nodes.store.commits
    assert all([await here.wait("a") for _ in range(500)])
    assert (nodes.store.commits, nodes.store.reads.total()) == (before, 0)
    assert all([await there.wait("a") for _ in range(500)])
    assert nodes.store.commits == before


async def test_a_limit_of_thousands_is_each_nodes(nodes: Nodes) -> None:
    """It protects nobody, and costs no list of thousands of times for each request."""
    times = CheckoutRecords(nodes.store, nodes.clock, b"key").started
    limit = SharedLimit(RateLimit(nodes.clock, Limit(10**6, 60)), SharedTimes(times, b"key", 10**6))
    assert [await limit.wait("a") for _ in range(10)] == [0] * 10
    assert (nodes.store.commits, nodes.store.reads.total()) == (0, 0)


async def test_a_clock_that_was_put_back_keeps_nobody_waiting(nodes: Nodes) -> None:
    """Times that are hours ahead count no more."""
    limit = nodes.limit()
    assert [await limit.wait("a") for _ in range(5)] == [0] * 5
    nodes.clock.put(-timedelta(hours=5))
    assert await nodes.limit().wait("a") == 0


async def test_a_store_that_fails_is_the_callers_to_tell(nodes: Nodes) -> None:
    """Nothing is let through that could not be counted."""
    nodes.store.get_errors = [StoreUnavailable("gone")]
    with pytest.raises(StoreUnavailable):
        await nodes.limit().wait("a")


async def test_guesses_count_at_each_node_and_after_a_restart(nodes: Nodes) -> None:
    """Five wrong passwords, each at another node, wait as long as five at one."""
    delays = [await nodes.guess(nodes.door()) for _ in range(5)]
    assert delays == [FIRST_DELAY * 2**number for number in range(4)] + [LONGEST_DELAY]
    nodes.clock.advance(FORGOTTEN_AFTER)
    assert await nodes.guess(nodes.door()) == FIRST_DELAY


async def test_so_many_guesses_are_judged_in_a_minute_by_all(nodes: Nodes) -> None:
    """Of guesses at two nodes as many are judged as one would judge; the others get a 429."""
    doors = [nodes.door(), nodes.door()]
    tasks = [asyncio.create_task(door.matches(b"wrong")) for _ in range(MOST_GUESSES) for door in doors]
    for _ in range(400):
        await checkpoint()
    nodes.clock.advance(LONGEST_DELAY)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert ended.count(False) == MOST_GUESSES
    assert {one.status for one in ended if isinstance(one, Problem)} == {429}


async def test_the_right_password_asks_no_store(nodes: Nodes) -> None:
    """It costs nothing, and is admitted while the store is away."""
    nodes.store.get_errors = [StoreUnavailable("gone")]
    assert await nodes.door().matches(PASSWORD)
    assert (nodes.store.reads.total(), nodes.store.commits) == (0, 0)


async def test_without_a_store_a_node_counts_its_own(nodes: Nodes) -> None:
    """A wrong password is refused all the same, and each waits longer than the one before."""
    door = nodes.door()
    nodes.store.get_errors = [StoreUnavailable("gone")] * 3
    assert [await nodes.guess(door) for _ in range(3)] == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY]
