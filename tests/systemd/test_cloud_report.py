"""The section "Report to the site" of the how-to about the cloud, typed as root on a booted machine."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from orrery.sandbox.cloud.resources import LOCATION, MACHINE, RESOURCE_GROUP, SUBSCRIPTION, TOKEN_PATH
from orrery.sandbox.serving import authority_file
from tests.rehearsal.owner import edited
from tests.rehearsal.page import Edited, Typed, section
from tests.rehearsal.typist import Typist
from tests.systemd.gateway import ORRERY, Machine, eventually
from tests.systemd.host import ROOT

PAGE = ROOT / "docs/how-to/start-the-machine-from-the-cloud.md"
FOLDER = "/etc/orrery-cloud"
WEB, CLOUD, SITE = 8197, 8191, 8196
"""Ports: the sandbox by http and by https, and the site."""

TOKEN = "of-the-tests-and-nobody-elses-0123456789"  # noqa: S105  of the tests

NOT_TYPED = ("az ", "editor ", "scp ")
"""The vendor's own command line, an editor, and another machine: what they write is written by the test."""

SETTINGS = f"""\
mode = "test"
[secrets]
directory = "secrets"
[tls]
ca_file = "authority.pem"
[cloud]
management_url = "https://localhost:{CLOUD}"
subscription = "{SUBSCRIPTION}"
resource_group = "{RESOURCE_GROUP}"
machine = "{MACHINE}"
location = "{LOCATION}"
email = "owner@example.org"
# site_url = ""
"""
ANSWERS_204 = f"""\
daemon off; pid /run/site.pid; error_log /dev/null; events {{}}
http {{ access_log off; server {{ listen 127.0.0.1:{SITE};
location = /ping {{ if ($http_authorization = "Bearer {TOKEN}") {{ return 204; }} return 401; }} }} }}
"""
SHOWN = "[Service]\nProtectHome=no\nPrivateTmp=no\n"
"""For a checkout, or a Python, in a folder that the unit hides."""


def test_the_timer_sends_reports(machine: Machine) -> None:
    """As the unit's own user, within all its limits, it reads its files, asks the cloud and tells the site."""
    sandbox = [str(ORRERY), "sandbox", "--webhook-url=http://127.0.0.1:1/", f"--port={WEB}", "--smtp-port=8195"]
    with TemporaryDirectory() as data, machine.beside(*sandbox, f"--cloud-port={CLOUD}", f"--data={data}"):
        eventually(lambda: machine.run(f"curl -s -f http://127.0.0.1:{WEB}/_clock > /dev/null && echo up"))
        machine.write("/run/site.conf", ANSWERS_204)
        machine.run(f"systemd-run --unit=site nginx -c /run/site.conf; ln -s {ROOT} /opt/orrery")
        show_the_checkout(machine, "orrery-cloud-report")
        with machine.host.terminal("root") as shown:
            follow(machine, Typist(shown), authority_file(Path(data), "cloud").read_text())
        assert machine.run("systemctl is-active orrery-cloud-report.timer").strip() == "active"
        asked = machine.run(f"curl -s http://127.0.0.1:{WEB}/_cloud")
        assert "GET machine" in asked


def show_the_checkout(machine: Machine, unit: str) -> None:
    """Let a unit see the checkout, and the Python that runs it."""
    folders = [folder for path in (ROOT, Path(sys.base_prefix)) for folder in [path, *path.parents]]
    for folder in {Path(one) for one in ("/home", "/root", "/tmp")} & set(folders):  # noqa: S108  what the unit hides
        machine.run(f"chmod o+x {folder}; mkdir -p /etc/systemd/system/{unit}.service.d")
        machine.write(f"/etc/systemd/system/{unit}.service.d/checkout.conf", SHOWN)


def follow(machine: Machine, typist: Typist, authority: str) -> None:
    """Type the section; what others bring is there before the rights are set."""
    for piece in section(PAGE, "Report to the site"):
        match piece:
            case Typed(lines):
                if lines[0].startswith("chmod"):
                    bring(machine, authority)
                for line in lines:
                    if not line.startswith(NOT_TYPED):
                        assert typist.type(line) == 0, typist.shown + log(machine)
            case Edited(text):
                own = text.replace("https://shop.example.org", f"http://127.0.0.1:{SITE}")
                machine.write(f"{FOLDER}/orrery.toml", edited(machine.run(f"cat {FOLDER}/orrery.toml"), own))
            case _:
                pass


def bring(machine: Machine, authority: str) -> None:
    identity = f"IDENTITY_ENDPOINT=http://127.0.0.1:{WEB}{TOKEN_PATH}\nIDENTITY_HEADER=sandbox-identity-header\n"
    files = {
        "azure.env": identity,
        "authority.pem": authority,
        "orrery.toml": SETTINGS,
        "secrets/gateway_webhook_uri": "https://localhost/webhooks?token=none",
        "secrets/gateway_ping_token": TOKEN,
    }
    for name, text in files.items():
        machine.write(f"{FOLDER}/{name}", text)


def log(machine: Machine) -> str:
    return machine.run("journalctl --no-pager --output=cat -u orrery-cloud-report")
