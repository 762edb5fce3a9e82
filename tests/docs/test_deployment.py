"""The units in deploy/ are ones that a service manager takes, and fit the settings."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from orrery.app.settings.new_file import settings_text
from orrery.app.settings.secrets import secret_name
from orrery.edge.connection_limiter import MOST_CONNECTIONS, most_connections
from tests.docs.documents import ROOT
from tests.support.waiting import PATIENCE

UNIT = ROOT / "deploy/systemd/orrery.service"
BACKUP = ROOT / "deploy/systemd/orrery-backup.service"
REPORT = ROOT / "deploy/systemd/orrery-cloud-report.service"
SCAN = ROOT / "deploy/systemd/orrery-scan@.service"
SERVICES = (UNIT, BACKUP, REPORT, SCAN)
UNITS = (*SERVICES, *(one.with_suffix(".timer") for one in (BACKUP, REPORT, SCAN)))
PROGRAM = "/opt/orrery/.venv/bin/orrery"
EXPOSURE = 20
"""The most that systemd may find wanting, in tenths: 0 is shut, 100 is open."""


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze, or skip where there is none."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run(  # noqa: S603 - our own arguments
        [program, *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_unit_is_one_that_systemd_takes(unit: Path, tmp_path: Path) -> None:
    """systemd-analyze has nothing to say about the unit, once its program is one that is there."""
    for one in UNITS:
        (tmp_path / one.name).write_text(one.read_text().replace(PROGRAM, "/bin/true"))
    result = analyze("verify", tmp_path / unit.name)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_the_unit_leaves_the_service_little(service: Path, tmp_path: Path) -> None:
    """systemd's own measure of what a taken-over service could reach stays low."""
    unit = tmp_path / service.name
    unit.write_text(service.read_text())
    result = analyze("security", "--offline=yes", f"--threshold={EXPOSURE}", "--no-pager", unit)
    assert result.returncode == 0, result.stdout


def test_the_snapshots_go_where_the_unit_may_write() -> None:
    """The folder that `orrery init` names for the system is one that the unit is given."""
    settings = tomllib.loads(settings_text(Path("/etc/orrery")))
    given = re.findall(r"^StateDirectory=(.*)$", BACKUP.read_text(), re.MULTILINE)[0].split()
    written = [Path(settings["backup"]["directory"]), Path(settings["store"]["path"]).parent]
    assert {f"/var/lib/{name}" for name in given} == {str(folder) for folder in written}


def test_the_unit_leaves_descriptors_for_all_connections() -> None:
    """Under the unit's limit the service takes as many connections as it can, and dumps no memory to a file."""
    limits = dict(re.findall(r"^Limit(\w+)=(\d+)$", UNIT.read_text(), re.MULTILINE))
    assert most_connections(int(limits["NOFILE"])) == MOST_CONNECTIONS
    assert limits["CORE"] == "0"


def test_the_unit_hands_over_the_folder_of_secrets() -> None:
    """The unit names the folder after the role that reads it: a role takes its own name off each file's."""
    assert re.findall(r"^LoadCredential=(.*)$", UNIT.read_text(), re.MULTILINE) == ["site:/etc/orrery/secrets"]
    assert secret_name(Path("site_push_token"), "site") == "push_token"
