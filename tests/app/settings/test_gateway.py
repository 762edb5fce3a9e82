"""Which settings and which token of the pings are taken."""

from pathlib import Path

import pytest

from orrery.app.settings.reader import load
from orrery.gateway.settings import GatewaySettings
from tests.support.machine import Machine, machine_in

VARIABLE = "ORRERY_GATEWAY_PING_TOKEN"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


def test_the_smallest_grace_is_two_pings(machine: Machine) -> None:
    """A shorter one would call a ping that is late silence."""
    machine.write("[gateway]\nping_grace = 120")
    assert load()[0][GatewaySettings].ping_grace == 120
    machine.write("[gateway]\nping_grace = 119")
    assert "gateway.ping_grace" in machine.refusal()


def test_the_fetch_script_is_a_path(machine: Machine) -> None:
    """It stands in advice: what is no path of a file stops the start."""
    machine.write('[gateway]\ntoken_script = "rm -rf ~"')
    assert "gateway.token_script" in machine.refusal()


def test_a_short_token_is_refused(machine: Machine) -> None:
    """The pings come from everywhere: their token has at least 32 characters."""
    machine.write("[gateway]\npings = true")
    machine.set(**{VARIABLE: "a-token-of-31-characters-too-sh"})
    assert "The secret gateway_ping_token is shorter than 32 characters" in machine.refusal()
    machine.set(**{VARIABLE: "a-token-of-32-characters-is-long"})
    assert load()[1].reveal("gateway_ping_token")
