"""What becomes of a commit whose answer was lost."""

import asyncio

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import OutcomeUnknown, StoreError, StoreUnavailable
from orrery.ports.store import Committed
from orrery.runtime.collection import Changes, commit
from tests.support.clock import ManualClock
from tests.support.hasty_loop import run_without_pauses
from tests.support.unreliable_store import UnreliableStore
from tests.support.waiting import PATIENCE

REPEATS = 10
"""How often a lost answer is asked for again in 30 s when each repeat ends at once."""


@pytest.mark.parametrize(
    "later", [OutcomeUnknown("The answer was lost.", "another id"), StoreUnavailable("Away.")]
)
def test_a_line_that_stays_broken(later: StoreError) -> None:
    """Until the last repeat an answer counts, whatever came meanwhile; then the lost one is the caller's."""
    lost = OutcomeUnknown("The answer was lost.", "an id")
    store = UnreliableStore(MemoryStore(ManualClock()), commit_errors=[lost, *[later] * (REPEATS - 1)])
    assert isinstance(run_without_pauses(commit(store, Changes())), Committed)
    store.commit_errors = [lost, *[later] * REPEATS]
    with pytest.raises(OutcomeUnknown) as raised:
        run_without_pauses(commit(store, Changes()))
    assert raised.value is lost


def test_a_store_that_is_slow_to_fail() -> None:
    """The time is for all repeats together: one that does not end is not waited for."""
    store = UnreliableStore(MemoryStore(ManualClock()), lose="after")

    async def hang() -> None:
        if store.commits > 1:
            _ = await asyncio.Event().wait()

    store.overtaken_by = hang
    with pytest.raises(OutcomeUnknown):
        run_without_pauses(asyncio.wait_for(commit(store, Changes()), PATIENCE))
