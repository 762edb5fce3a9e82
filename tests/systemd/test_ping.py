"""The guest's pings to a real site, and what the site says of them."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

from tests.support.program import typed
from tests.systemd.gateway import ORRERY, Gateway, Machine, eventually

PORT, PRIVATE = 9701, 9702
TOKEN = "of-the-tests-and-nobody-elses-0123456789"  # noqa: S105  of the tests
SETTINGS = f"""
mode = "sandbox"
[server]
port = {PORT}
private_port = {PRIVATE}
closing_seconds = 0
[store]
path = "store.db"
[secrets]
directory = "secrets"
[gateway]
pings = true
token_script = "/usr/local/bin/fetch-token"
"""


@pytest.fixture(scope="module", name="site")
def running_site(booted: Machine, tmp_path_factory: pytest.TempPathFactory) -> Generator["Site"]:
    """A site on the machine's loopback, which expects pings."""
    site = Site(tmp_path_factory.mktemp("site"))
    with booted.beside(str(ORRERY), "serve", "--config", str(site.settings)):
        eventually(lambda: booted.run(f"curl -s -o /dev/null http://127.0.0.1:{PORT}/healthz"))
        booted.run(f"echo {TOKEN} > /etc/ping-token; chmod 600 /etc/ping-token")
        yield site


class Site:
    """A site's settings, and its doctor."""

    def __init__(self, folder: Path) -> None:
        self.settings = folder / "orrery.toml"
        self.settings.write_text(SETTINGS)
        (folder / "secrets").mkdir(mode=0o700)
        (folder / "secrets/gateway_ping_token").write_text(TOKEN)
        self._orrery("store", "create")

    def says(self, *words: str) -> None:
        """Fail unless the doctor says these words of the gateway."""
        found = cast("list[dict[str, str]]", json.loads(self._orrery("doctor", "--json")))
        (gateway,) = [one for one in found if one["part"] == "gateway"]
        said = f"{gateway['state']}: {gateway['why']} {gateway['todo']}"
        assert [word for word in words if word not in said] == [], said

    def _orrery(self, *words: str) -> str:
        return typed(*words, "--config", str(self.settings)).stdout


def test_the_site_names_the_cause_and_its_end(machine: Machine, site: Site) -> None:
    """A credential that is missing when the service crashes is named from the ping; so is the recovery from it."""
    machine.run("echo token > /run/pinging-token")
    gateway = machine.gateway("pinging", "LoadCredential=token:/run/pinging-token")
    gateway.install("--ping", f"http://127.0.0.1:{PORT}/ping", "--ping-token-file", "/etc/ping-token")
    eventually(lambda: site.says("ok: "))
    machine.run("rm /run/pinging-token; systemctl restart pinging.service")
    eventually(lambda: site.says("broken: ", "243/CREDENTIALS"))
    machine.run("echo token > /run/pinging-token; systemctl restart pinging-watch.service")
    eventually(lambda: site.says("ok: "))
    assert TOKEN not in machine.run("journalctl --no-pager --output=verbose")


def test_a_unit_that_hangs_while_it_starts_is_seen_pinged_and_told(machine: Machine, site: Site) -> None:
    """Nothing waits for its start: the installation says what to do next; after the patience comes one push."""
    gateway = Gateway(machine, "mute.service", "http://127.0.0.1:1/")
    gateway.define("[Service]\nType=notify\nTimeoutStartSec=infinity\nExecStart=/bin/sleep infinity\n")
    gateway.systemctl("start", "--no-block")
    pinged = ("--ping", f"http://127.0.0.1:{PORT}/ping", "--ping-token-file", "/etc/ping-token")
    said = gateway.install("--start-within", "10m", *pinged)
    assert "It is not there yet: it has been starting for" in said
    assert "Wait, then type: sudo orrery gateway guest verify --unit mute.service" in said
    eventually(lambda: site.says("broken: ", "The service is starting"))
    assert machine.pushes("mute.service") == []
    process = gateway.shows("MainPID")
    gateway.install("--start-within", "1s")
    eventually(lambda: site.says("broken: ", "hangs while it starts"))
    eventually(gateway.has_pushed(1))
    assert "hangs while it starts" in gateway.guest("verify")
    machine.run(gateway.script)
    gateway.goes("activating/start")
    assert gateway.shows("MainPID") == process
    gateway.recovered(0)
    gateway.has_pushed(1)()


def test_a_ping_that_is_redirected_was_not_taken(machine: Machine, site: Site) -> None:
    """As from http to https: nothing follows, which would lose the ping or show the token elsewhere."""
    machine.write(
        "/run/moved.conf",
        "daemon off; pid /run/moved.pid; error_log /dev/null; events {}\n"
        "http { access_log off; server { listen 127.0.0.1:9703;\n"
        f"return 301 http://127.0.0.1:{PORT}/ping; }} }}\n",
    )
    machine.run("systemd-run --unit=moved-page nginx -c /run/moved.conf")
    gateway = machine.gateway("moved")
    gateway.install("--ping", "http://127.0.0.1:9703/ping", "--ping-token-file", "/etc/ping-token")
    eventually(lambda: gateway.said("The ping was not accepted"))
    assert site.settings.exists()


def test_a_refused_ping_is_logged_and_stops_nothing(machine: Machine, site: Site) -> None:
    """With a wrong token the site is silent about the unit, and the guest goes on recovering it."""
    machine.run("echo wrong > /etc/wrong-token; chmod 600 /etc/wrong-token")
    gateway = machine.gateway("mistaken")
    gateway.install("--ping", f"http://127.0.0.1:{PORT}/ping", "--ping-token-file", "/etc/wrong-token")
    eventually(lambda: gateway.said("The ping was not accepted"))
    assert "401" in gateway.guest("verify")
    gateway.systemctl("stop")
    gateway.await_answer()
    assert site.settings.exists()
