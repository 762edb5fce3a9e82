"""One booted machine for each file of tests."""

from collections.abc import Generator

import pytest

from tests.systemd.gateway import Machine, machine
from tests.systemd.host import refused


@pytest.fixture(scope="module", name="machine")
def booted_machine() -> Generator[Machine]:
    """A machine with a push server; skipped where none can be booted."""
    if why := refused():
        pytest.skip(why)
    with machine() as found:
        yield found
