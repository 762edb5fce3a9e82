"""A lease after the clock was put back: a dead holder keeps nobody from the job for longer than usual."""

from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.runtime.fence import Fence
from orrery.runtime.lease import Lease
from tests.support.clock import START, ManualClock

TERM = timedelta(seconds=30)


async def taken_with_a_clock_ahead(ahead: timedelta) -> Fence | None:
    """Take a lease by a clock that is ahead, put the clock right, and return what the next one gets."""
    clock = ManualClock(START + ahead)
    store = MemoryStore(clock)
    assert await Lease(store, clock, "job", "killed", TERM).take() is not None
    return await Lease(store, ManualClock(), "job", "next", TERM).take()


async def test_a_lease_from_the_future_is_free() -> None:
    """A holder that was killed while the clock was a day ahead does not stop the job for a day."""
    assert await taken_with_a_clock_ahead(timedelta(days=1)) is not None


async def test_clocks_that_disagree_a_little() -> None:
    """A holder whose clock is ahead by less than the term keeps its lease: it may be at work elsewhere."""
    assert await taken_with_a_clock_ahead(TERM) is None
