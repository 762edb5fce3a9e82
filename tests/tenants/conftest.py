"""What the tests of this folder share."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio."""
    return "asyncio"
