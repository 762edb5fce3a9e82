"""What the tests of this folder share."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(params=["UTC", "America/New_York", "Pacific/Auckland"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run in a time zone of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()
