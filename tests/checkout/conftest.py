"""What the tests of this folder share."""

import pytest

from orrery.adapters.memory import MemoryStore
from tests.support.checkout import Shop
from tests.support.clock import ManualClock
from tests.support.rehearsal import Rehearsal
from tests.support.unreliable_store import UnreliableStore


@pytest.fixture
def clock() -> ManualClock:
    """Return the clock of a test."""
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> UnreliableStore:
    """Return a store that fails when the test wants it to."""
    return UnreliableStore(MemoryStore(clock))


@pytest.fixture
def shop() -> Shop:
    """Return a shop with nothing in its store."""
    return Shop()


@pytest.fixture
def rehearsal() -> Rehearsal:
    """Return a deployment that is about to sell."""
    return Rehearsal()
