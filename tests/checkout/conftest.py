"""What the tests of this folder share."""

import pytest

from tests.support.checkout import Shop
from tests.support.rehearsal import Rehearsal


@pytest.fixture
def shop() -> Shop:
    """Return a shop with nothing in its store."""
    return Shop()


@pytest.fixture
def rehearsal() -> Rehearsal:
    """Return a deployment that is about to sell."""
    return Rehearsal()
