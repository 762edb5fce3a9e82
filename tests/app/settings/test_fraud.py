"""Which addresses are one's own, as the settings say (decision 18)."""

from pathlib import Path

import pytest

from orrery.app.settings.reader import load
from orrery.fraud.build import own_addresses
from orrery.fraud.module import MODULE
from tests.support.machine import Machine, machine_in
from tests.support.runtimes import runtime_of


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


def test_own_addresses_and_proxies_are_never_blocked(machine: Machine) -> None:
    """Single addresses and networks are taken, and the proxies that are trusted count as one's own."""
    machine.write(
        '[fraud]\nown_addresses = ["198.51.100.7", "2001:db8::/32"]\n[server]\ntrusted_proxies = ["10.0.0.0/8"]\n'
    )
    assert own_addresses(runtime_of(MODULE, load()[0])) == ("198.51.100.7", "2001:db8::/32", "10.0.0.0/8")


@pytest.mark.parametrize("text", ["198.51.100.7/24", "the office", "198.51.100.300", ""])
def test_what_is_no_network_stops_the_start(machine: Machine, text: str) -> None:
    """A typing error in one's own addresses is said at the start, not when it is too late."""
    machine.write(f'[fraud]\nown_addresses = ["{text}"]')
    assert "fraud.own_addresses: each must be a network such as 10.0.0.0/8" in machine.refusal()


def test_a_network_that_nobody_has_stops_the_start(machine: Machine) -> None:
    """IPv4 in IPv6 clothes would match no address, and so protect none of one's own."""
    machine.write('[fraud]\nown_addresses = ["::ffff:198.51.100.0/120"]')
    assert "fraud.own_addresses: a network of IPv4 is written as one" in machine.refusal()
