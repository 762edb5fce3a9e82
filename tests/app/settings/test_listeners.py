"""The two listeners are two: what is private would otherwise be shown where the public asks (decision 42)."""

from pathlib import Path

import pytest

from orrery.app.settings.reader import load
from orrery.runtime.settings import ServerSettings
from tests.support.machine import Machine, machine_in


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty machine."""
    return machine_in(tmp_path, monkeypatch)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104  a setting under test, nothing listens
def test_one_port_for_both(machine: Machine, host: str) -> None:
    """One port for both listeners is refused, whatever the addresses: the system would let us listen twice."""
    machine.write(f'[server]\nhost = "{host}"\nport = 9000\nprivate_port = 9000\n')
    assert "port and private_port must differ" in machine.refusal()


def test_any_free_port_for_both(machine: Machine) -> None:
    """Port 0 stands for any free one, and two of them differ."""
    machine.write("[server]\nport = 0\nprivate_port = 0\n")
    assert load()[0][ServerSettings].port == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "gateway.example", ""])  # noqa: S104  nothing listens
def test_the_private_listener_is_for_this_machine(machine: Machine, host: str) -> None:
    """An address that others can reach is refused for the private listener."""
    machine.write(f'[server]\nprivate_host = "{host}"\n')
    assert "the private listener must have a loopback address" in machine.refusal()


@pytest.mark.parametrize(
    ("host", "private_host", "addresses"),
    [
        ("0.0.0.0", "127.0.0.1", ("http://127.0.0.1:8080", "http://127.0.0.1:8081")),  # noqa: S104  nothing listens
        ("::", "::1", ("http://[::1]:8080", "http://[::1]:8081")),
        ("192.0.2.7", "localhost", ("http://192.0.2.7:8080", "http://localhost:8081")),
    ],
)
def test_where_a_client_on_this_machine_asks(host: str, private_host: str, addresses: tuple[str, str]) -> None:
    """A service that listens everywhere is asked at the loopback address; an IPv6 address stands in brackets."""
    server = ServerSettings.model_validate({"host": host, "private_host": private_host})
    assert (server.address, server.private_address) == addresses
