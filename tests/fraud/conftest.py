"""What the tests of this folder share."""

import pytest

from tests.fraud.screen import Shop


@pytest.fixture
def shop() -> Shop:
    """Return fraud screening over an empty store."""
    return Shop()
