"""The files that are written on the gateway's host (spec 3, In-guest files)."""

import subprocess
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from orrery.gateway.guest.files import host_files
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.unit_name import unit_name
from tests.gateway.guest.guests import DROP_IN, OPTIONS, UNIT
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

FILES = {file.path: file for file in host_files(UNIT, OPTIONS)}


def test_the_files_of_the_specification_are_there() -> None:
    """Drop-in, script, service and timer have the paths and modes that the specification gives."""
    assert FILES[DROP_IN].mode == 0o644
    assert FILES["/usr/local/sbin/gateway-recover.sh"].mode == 0o755
    assert {"/etc/systemd/system/gateway-recover.service", "/etc/systemd/system/gateway-recover.timer"} < {*FILES}


def test_the_drop_in_has_the_values_of_the_specification() -> None:
    """The limits stand in [Unit], where alone both count."""
    unit, service = FILES[DROP_IN].text.split("[Service]\n")
    assert {"[Unit]", "StartLimitBurst=20", "StartLimitIntervalSec=1800", "OnFailure=gateway-alert.service"} <= {
        *unit.split()
    }
    assert service.split() == ["Restart=on-failure", "RestartSec=60"]


def test_the_timer_has_the_values_of_the_specification() -> None:
    """It fires 30 s after the start of the machine and every 15 minutes, to the second."""
    lines = FILES["/etc/systemd/system/gateway-recover.timer"].text.splitlines()
    assert {"OnBootSec=30s", "OnUnitActiveSec=15min", "AccuracySec=1s"} < {*lines}


@each_case("probe", ["", "http://127.0.0.1:1/", "pg_isready"])
def test_a_command_as_a_probe_may_need_anything(probe: str) -> None:
    """It would fail within limits that its author did not know; what does not run it has them always."""
    units = {file.path: file.text for file in host_files(UNIT, replace(OPTIONS, probe=probe))}
    limited = {path for path, text in units.items() if "ProtectSystem=strict" in text}
    asking, alert = {UNIT.watch, UNIT.recover_service}, {UNIT.alert}
    wanted = alert if probe == "pg_isready" else asking | alert
    assert limited == {f"/etc/systemd/system/{one}" for one in wanted}


@each_case("text", ["gateway", "gw@eu", r"my\x2dgw", "-gw", "a:b_c.d"])
def test_no_placeholder_is_left(text: str) -> None:
    """Every file of every name is filled in, and no two files have one path."""
    files = host_files(unit_name(text), Options(f"{text}.service"))
    assert [file.path for file in files if "@UNIT@" in file.text or "@NAME@" in file.text] == []
    assert len({file.path for file in files}) == len(files)


def test_a_backslash_is_doubled_where_systemd_reads_escapes() -> None:
    """The path in ExecStart leads to the script that is written."""
    files = {PurePosixPath(file.path).name: file for file in host_files(unit_name(r"my\x2dgw"), Options("x"))}
    assert r'ExecStart=/bin/sh "/usr/local/sbin/my\\x2dgw-recover.sh"' in files[r"my\x2dgw-recover.service"].text
    assert r"OnFailure=my\x2dgw-alert.service" in files["cold-boot-retry.conf"].text


@pytest.mark.parametrize("name", [one for one in FILES if one.endswith((".sh", ".lib"))])
def test_a_script_is_posix(name: str) -> None:
    """A plain shell can read each script, whatever this machine's is."""
    words, text = ["/bin/sh", "-n"], FILES[name].text
    came = subprocess.run(words, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603  fixed words
    assert (came.returncode, came.stderr) == (0, "")
