"""One booted machine for all tests of a process."""

from collections.abc import Generator

import pytest

from tests.systemd.gateway import Machine, machine
from tests.systemd.host import refused


@pytest.fixture(scope="session", name="booted")
def booted_machine() -> Generator[Machine]:
    """A machine with a push server, whose guest waits for seconds; skipped where none can be booted."""
    if why := refused():
        pytest.skip(why)
    with machine() as found:
        found.hasten()
        yield found


@pytest.fixture(name="machine")
def machine_of_a_test(booted: Machine) -> Generator[Machine]:
    """The machine; what a test has started there is stopped after it."""
    yield booted
    booted.stop_all()
