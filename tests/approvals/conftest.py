"""What the tests of this folder share."""

import pytest

from tests.support.approving import Desk


@pytest.fixture
def desk() -> Desk:
    """Return a desk with nothing on it."""
    return Desk()
