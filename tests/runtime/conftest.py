"""A store of each adapter that needs no server, for what stands on them."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from orrery.ports.store import Store
from tests.conformance.conftest import clock
from tests.support.clock import ManualClock
from tests.support.stores import ADAPTERS, opened

__all__ = ["clock", "store"]


@pytest.fixture(params=ADAPTERS)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncGenerator[Store]:
    """Yield an empty store of each adapter."""
    async with opened(request.param, tmp_path, clock) as store:
        yield store
