"""What a refresh does with odd figures, with nothing to do, and with a fault of our own."""

import pytest

from orrery.live import keys
from orrery.syntax.numbers import LARGEST
from tests.support.counting import Counting
from tests.support.unreliable_store import UnreliableStore


@pytest.fixture
def one() -> Counting:
    """Return a process that counts."""
    return Counting()


@pytest.mark.parametrize("figure", [LARGEST + 1, -1])
async def test_a_figure_that_is_no_count_costs_its_own_query_only(one: Counting, figure: int) -> None:
    """A page figure that nobody can store is a failed query: the total is counted, and the failure is told."""
    one.analytics.pages = {"Home": figure}
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.active) == (True, 12)
    error = await one.stored(keys.LAST_ERROR)
    assert error is not None
    assert (error["failed_query"], "is not a report" in error["message"]) == ("pages", True)


async def test_a_total_that_is_no_count_is_a_failure(one: Counting) -> None:
    """A total that nobody can store is the failure that the answer names, and no lease is left behind."""
    one.analytics.visitors = LARGEST + 1
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.error) == (False, "provider-unreachable")
    assert await one.kept.scan("lease:") == []


async def test_whoever_finds_nothing_to_do_lets_go_of_the_lease(one: Counting) -> None:
    """A process that takes the lease when another has just finished gives it back at once."""
    other = one.beside()
    store = UnreliableStore(one.kept)
    late = Counting(one.clock, one.analytics, store, "late", one.limits, one.interval, one.source)

    async def first() -> None:
        store.overtaken_by = None
        await other.refresh.run()

    store.overtaken_by = first
    assert (await late.refresh.run()).ok
    assert await one.kept.scan("lease:") == []
    assert one.analytics.calls[None] == 1


async def test_a_refresh_that_crashes_leaves_no_lease(one: Counting) -> None:
    """After a fault of our own the next process begins at once, and does not wait for the term to end."""

    async def crash() -> None:
        raise RuntimeError("a bug")

    one.analytics.meanwhile = crash
    with pytest.raises(RuntimeError):
        await one.refresh.run()
    assert await one.kept.scan("lease:") == []
