"""The unit of the timer, within its limits: what the journal has of a search that was killed."""

import sys
from pathlib import Path

import pytest

from tests.support.exposed import holding
from tests.support.soak import SOAKING
from tests.systemd.gateway import ORRERY, Machine, eventually
from tests.systemd.host import ROOT

TERMS = ["Velmidor Phagritor", "Quistodor Xelunus"]
CONFIG = "/etc/orrery-scan"
UNIT = "orrery-scan@root.service"
SHOWN = f"""\
[Service]
ProtectHome=no
PrivateTmp=no
ExecStart=
ExecStart={ORRERY} tenants scan --destinations --config {CONFIG}/orrery.toml
"""
"""For a checkout in a folder that the unit hides."""

SETTINGS = """
[tenants.B]
label = "Lab"
tenant = "bbbbbbbb-0000-4000-8000-00000000000b"
client = "bbbbbbbb-1111-4000-8000-00000000000b"
destinations = [{ name = "blog", kind = "blog", folder = "/srv/blog" }]
"""


@pytest.mark.skipif(not SOAKING, reason="a machine of its own is booted for it: ./run soak gateway")
def test_the_journal_has_nothing_of_the_list(machine: Machine) -> None:
    """Each signal that would write a core, sent while the unit searches a file without an end."""
    for folder in {one for path in (ROOT, Path(sys.base_prefix)) for one in path.parents if one != Path("/")}:
        machine.run(f"chmod o+x {folder} || true")
    machine.run(f"mkdir -p /srv/blog {CONFIG} /etc/systemd/system/{UNIT}.d; truncate -s 1T /srv/blog/endless")
    machine.write(f"/etc/systemd/system/{UNIT}.d/checkout.conf", SHOWN)
    machine.run(f"cp {ROOT}/deploy/systemd/orrery-scan@.* /etc/systemd/system/; systemctl daemon-reload")
    machine.run(f"{ORRERY} init --role scan {CONFIG}")
    machine.run(f"cat >> {CONFIG}/orrery.toml <<'E'\n{SETTINGS}\nE")
    settings = f"--config {CONFIG}/orrery.toml"
    machine.run(f"{ORRERY} tenants watch new-key {settings}")
    typed = "\\n".join(TERMS)
    machine.run(f"printf '{typed}\\n' | {ORRERY} tenants watch add --kind customer {settings}")
    for name in ("QUIT", "SEGV", "ABRT"):
        machine.run(f"systemctl start --no-block {UNIT}")
        eventually(lambda: machine.run(f"ls -l /proc/$(systemctl show -P MainPID {UNIT})/fd | grep endless"))
        machine.run(f"systemctl kill --signal={name} {UNIT}")
        eventually(lambda: machine.run(f"systemctl is-failed {UNIT}"))
    journal = machine.run("journalctl --all --output=export")
    assert journal.count("code=killed, status=") == 3  # a core would make it code=dumped
    assert holding([("journal", journal.encode())], TERMS) == []
