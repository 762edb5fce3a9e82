"""One holder at a time, with a token that fences an overtaken one off (the design, The store)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import OutcomeUnknown, StoreUnavailable
from orrery.ports.store import Committed, Conflict, Put
from orrery.runtime.fence import Fence
from orrery.runtime.lease import Lease
from tests.support.clock import ManualClock
from tests.support.hasty_loop import run_without_pauses
from tests.support.unreliable_store import UnreliableStore

TERM = timedelta(seconds=30)


class Rivals:
    """Two holders of one lease, over one store."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.ours = Lease(self.store, self.clock, "job", "ours", TERM)
        self.theirs = Lease(self.store, self.clock, "job", "theirs", TERM)

    async def taken(self) -> Fence:
        """Take it for us."""
        return await taken(self.ours)


async def taken(lease: Lease) -> Fence:
    """Take a lease that is free."""
    fence = await lease.take()
    assert fence is not None
    return fence


async def test_the_first_takes_it() -> None:
    """A lease that nobody has is taken, and the other gets nothing."""
    rivals = Rivals()
    assert await rivals.ours.take() is not None
    assert await rivals.theirs.take() is None


async def test_only_one_of_many() -> None:
    """Of fifty that reach for it at the same moment one gets it."""
    rivals = Rivals()
    leases = [Lease(rivals.store, rivals.clock, "job", f"holder-{number}", TERM) for number in range(50)]
    fences = await asyncio.gather(*(lease.take() for lease in leases))
    assert len([fence for fence in fences if fence is not None]) == 1


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
    """In the first half of its term taking it again writes nothing."""
    rivals = Rivals()
    fence = await rivals.taken()
    rivals.clock.advance(15)
    commits = rivals.store.commits
    assert await rivals.ours.take() is fence
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
    """A write under a lease that another took is refused."""
    rivals = Rivals()
    old = await rivals.taken()
    rivals.clock.advance(30)
    new = await taken(rivals.theirs)
    assert new.token > old.token
    assert isinstance(await rivals.store.commit([Put("value", b"old")], [old.check]), Conflict)
    assert isinstance(await rivals.store.commit([Put("value", b"new")], [new.check]), Committed)


async def test_a_token_that_comes_back_is_none() -> None:
    """After the lease went to another and came back, the first token is still worth nothing."""
    rivals = Rivals()
    old = await rivals.taken()
    await rivals.ours.give_up()
    await taken(rivals.theirs)
    await rivals.theirs.give_up()
    assert await rivals.taken() is not old
    assert isinstance(await rivals.store.commit([Put("value", b"old")], [old.check]), Conflict)


async def test_giving_up_what_has_moved_on() -> None:
    """An overtaken holder that gives up takes nothing from the new one, also when it is overtaken in the act."""
    rivals = Rivals()
    await rivals.taken()
    rivals.clock.advance(30)
    rivals.store.overtaken_by = overtaking(rivals)
    await rivals.ours.give_up()
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


async def test_a_fence_lasts_through_renewals() -> None:
    """As long as nobody else had it, its token is the same; what is committed later has a higher version."""
    rivals = Rivals()
    fence = await rivals.taken()
    token = fence.token
    for _ in range(5):
        outcome = await rivals.store.commit([Put("written-by-us", b"")], [fence.check])
        assert isinstance(outcome, Committed)
        assert fence.token == token < outcome.version
        rivals.clock.advance(40)
        assert await rivals.taken() is fence


@pytest.mark.parametrize("way", ["expired", "given up", "unreadable"])
async def test_another_had_it_meanwhile(way: str) -> None:
    """Whatever way another had it, even unseen, it is another fence with a later token."""
    rivals = Rivals()
    ours = await rivals.taken()
    rivals.clock.advance(31)
    theirs = await taken(rivals.theirs)
    if way == "given up":
        await rivals.theirs.give_up()
    elif way == "unreadable":
        await rivals.store.commit([Put("lease:job", b"?")])
    else:
        rivals.clock.advance(31)
    again = await rivals.taken()
    assert again is not ours
    assert again.token > theirs.token


def test_another_had_it_before_the_answer_was_lost() -> None:
    """We take it back, and never hear so: when we see that it is ours, it is so by another fence."""
    rivals = Rivals()

    async def back() -> None:
        if rivals.store.commits > 1:
            raise StoreUnavailable("Away.")

    async def handed_back() -> tuple[Fence, Fence]:
        ours = await taken(Lease(rivals.store.inside, rivals.clock, "job", "ours", TERM))
        assert await rivals.ours.take()
        rivals.clock.advance(31)
        await taken(Lease(rivals.store.inside, rivals.clock, "job", "theirs", TERM))
        rivals.clock.advance(31)
        rivals.store.lose, rivals.store.overtaken_by = "after", back
        with pytest.raises(OutcomeUnknown):
            await rivals.ours.take()
        rivals.store.overtaken_by = None
        return ours, await rivals.taken()

    before, after = run_without_pauses(handed_back())
    assert after.token > before.token


async def test_overtaken_in_the_act_of_renewing() -> None:
    """While another has it, and in the act of losing it, we have no fence."""
    rivals = Rivals()
    await rivals.taken()
    rivals.clock.advance(31)
    rivals.store.overtaken_by = overtaking(rivals)
    assert await rivals.ours.take() is None
    assert await rivals.ours.take() is None


def overtaking(rivals: Rivals) -> Callable[[], Awaitable[None]]:
    """Let the other take it between a look and a commit."""

    async def overtake() -> None:
        rivals.store.overtaken_by = None
        assert await rivals.theirs.take() is not None

    return overtake
