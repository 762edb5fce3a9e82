"""One holder at a time, with a token that fences an overtaken one off (the design, The store)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.ports.store import Committed, Conflict, Put
from orrery.runtime.lease import Lease
from tests.support.clock import ManualClock
from tests.support.unreliable_store import UnreliableStore

TERM = timedelta(seconds=30)


class Rivals:
    """Two holders of one lease, over one store."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.ours = Lease(self.store, self.clock, "job", "ours", TERM)
        self.theirs = Lease(self.store, self.clock, "job", "theirs", TERM)

    async def taken(self) -> int:
        """Take it for us."""
        token = await self.ours.take()
        assert token is not None
        return token


async def test_the_first_takes_it() -> None:
    """A lease that nobody has is taken, and the other gets nothing."""
    rivals = Rivals()
    assert await rivals.ours.take() is not None
    assert await rivals.theirs.take() is None


async def test_only_one_of_many() -> None:
    """Of fifty that reach for it at the same moment one gets it."""
    rivals = Rivals()
    leases = [Lease(rivals.store, rivals.clock, "job", f"holder-{number}", TERM) for number in range(50)]
    tokens = await asyncio.gather(*(lease.take() for lease in leases))
    assert len([token for token in tokens if token is not None]) == 1


async def test_it_ends_with_its_term() -> None:
    """Until its term is over it belongs to its holder, from then on to who takes it."""
    rivals = Rivals()
    await rivals.taken()
    rivals.clock.advance(29.999)
    assert await rivals.theirs.take() is None
    rivals.clock.advance(0.001)
    assert await rivals.theirs.take() is not None
    assert await rivals.ours.take() is None


async def test_renewing_costs_nothing_while_it_is_fresh() -> None:
    """In the first half of its term taking it again writes nothing and gives the same token."""
    rivals = Rivals()
    token = await rivals.taken()
    rivals.clock.advance(15)
    commits = rivals.store.commits
    assert await rivals.ours.take() == token
    assert rivals.store.commits == commits


async def test_renewing_extends_it() -> None:
    """In the second half taking it again gives a new term."""
    rivals = Rivals()
    await rivals.taken()
    rivals.clock.advance(16)
    assert await rivals.ours.take() is not None
    rivals.clock.advance(29)
    assert await rivals.theirs.take() is None


async def test_an_overtaken_holder_cannot_write() -> None:
    """A write fenced with the token of a lease that another took is refused."""
    rivals = Rivals()
    old = await rivals.taken()
    rivals.clock.advance(30)
    new = await rivals.theirs.take()
    assert new is not None
    assert new > old
    stale = await rivals.store.commit([Put("value", b"old")], [rivals.ours.fence(old)])
    assert isinstance(stale, Conflict)
    fresh = await rivals.store.commit([Put("value", b"new")], [rivals.theirs.fence(new)])
    assert isinstance(fresh, Committed)


async def test_a_token_that_comes_back_is_none() -> None:
    """After the lease went to another and came back, the first token is still worth nothing."""
    rivals = Rivals()
    old = await rivals.taken()
    await rivals.ours.release(old)
    stranger = await rivals.theirs.take()
    assert stranger is not None
    await rivals.theirs.release(stranger)
    await rivals.taken()
    assert isinstance(await rivals.store.commit([Put("value", b"old")], [rivals.ours.fence(old)]), Conflict)


async def test_releasing() -> None:
    """A lease that was released is free at once."""
    rivals = Rivals()
    await rivals.ours.release(await rivals.taken())
    assert await rivals.theirs.take() is not None


async def test_releasing_what_has_moved_on() -> None:
    """An overtaken holder that releases takes nothing from the new one."""
    rivals = Rivals()
    old = await rivals.taken()
    rivals.clock.advance(30)
    await rivals.theirs.take()
    await rivals.ours.release(old)
    await rivals.ours.give_up()
    assert await rivals.ours.take() is None


async def test_giving_up() -> None:
    """Anyone who stops as planned gives up what he has, and nothing when he has nothing."""
    rivals = Rivals()
    await rivals.ours.give_up()
    await rivals.taken()
    await rivals.ours.give_up()
    assert await rivals.theirs.take() is not None


async def test_leases_of_two_jobs() -> None:
    """Each job has its own lease."""
    rivals = Rivals()
    await rivals.taken()
    assert await Lease(rivals.store, rivals.clock, "other job", "theirs", TERM).take() is not None


@pytest.mark.parametrize("value", [b"", b"{", b'{"v": 2}'])
async def test_a_lease_that_cannot_be_read(value: bytes) -> None:
    """A damaged lease, or one of a newer version, keeps nobody from the job: one of two takes it."""
    rivals = Rivals()
    assert isinstance(await rivals.store.commit([Put("lease:job", value)]), Committed)
    await rivals.taken()
    assert await rivals.theirs.take() is None


async def test_overtaken_in_the_act() -> None:
    """Who is overtaken between looking and taking gets nothing."""
    rivals = Rivals()

    async def overtake() -> None:
        rivals.store.overtaken_by = None
        assert await Lease(rivals.store.inside, rivals.clock, "job", "theirs", TERM).take() is not None

    rivals.store.overtaken_by = overtake
    assert await rivals.ours.take() is None


async def test_since_when_it_is_ours() -> None:
    """As long as nobody else had it, it is ours since the same version; what comes later has a higher one."""
    rivals = Rivals()
    assert rivals.ours.since == 0
    since = await rivals.taken()
    for _ in range(5):
        outcome = await rivals.store.commit([Put("written-by-us", b"")])
        assert isinstance(outcome, Committed)
        assert rivals.ours.since == since < outcome.version
        rivals.clock.advance(40)
        await rivals.taken()


@pytest.mark.parametrize("way", ["expired", "given up", "unreadable"])
async def test_since_when_it_is_ours_again(way: str) -> None:
    """Whatever way another had it in between, even unseen: it is ours since a version after theirs."""
    rivals = Rivals()
    await rivals.taken()
    rivals.clock.advance(31)
    theirs = await rivals.theirs.take()
    assert theirs is not None
    if way == "given up":
        await rivals.theirs.give_up()
    elif way == "unreadable":
        await rivals.store.commit([Put("lease:job", b"?")])
    else:
        rivals.clock.advance(31)
    await rivals.taken()
    assert rivals.ours.since > theirs


async def test_since_when_another_has_it() -> None:
    """While another has it, and in the act of losing it, it is ours since never."""
    rivals = Rivals()
    await rivals.taken()
    rivals.clock.advance(31)
    rivals.store.overtaken_by = overtaking(rivals)
    assert await rivals.ours.take() is None
    assert await rivals.ours.take() is None
    assert rivals.ours.since == 0


def overtaking(rivals: Rivals) -> Callable[[], Awaitable[None]]:
    """Let the other take it between a look and a commit."""

    async def overtake() -> None:
        rivals.store.overtaken_by = None
        assert await rivals.theirs.take() is not None

    return overtake
