"""Ready files that call the refresh each minute (issue 3, item 6)."""

import configparser
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from orrery.errors import Invalid
from orrery.live.schedules import REFRESH_PATH, Kind, ready_files
from tests.support.waiting import PATIENCE

BASE = "https://counter.example.org"
PROGRAM = "/opt/orrery/.venv/bin/orrery"


@pytest.mark.parametrize("kind", get_args(Kind))
def test_no_file_is_made_for_a_strange_address(kind: Kind) -> None:
    """Ready files are made for checked addresses only."""
    for address in (f'{BASE}"; alert(1); "', f"{BASE}/\nExecStartPre=/bin/true", "http://counter.example.org"):
        with pytest.raises(Invalid):
            ready_files(kind, address)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_nothing_is_left_to_fill(kind: Kind) -> None:
    """Each set of files names the service, leaves no place unfilled, and holds no password."""
    texts = [file.text for file in ready_files(kind, f"{BASE}/")]
    assert any(f'"{BASE}' in text for text in texts)
    assert not any("@BASE_URL@" in text or "@REFRESH_URL@" in text or f"{BASE}//" in text for text in texts)


def unit(name: str) -> configparser.ConfigParser:
    """Return one of the systemd units, parsed."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] the library's own way to keep the case
    parser.read_string(texts("systemd")[name])
    return parser


def texts(kind: Kind) -> dict[str, str]:
    """Return the ready files of a kind by their names."""
    return {file.name: file.text for file in ready_files(kind, BASE)}


def test_the_timer_fires_at_each_full_minute() -> None:
    """The timer is aligned with the clock's minutes, and makes up for none that it missed."""
    timer = unit("orrery-refresh.timer")["Timer"]
    assert dict(timer) == {"OnCalendar": "*-*-* *:*:00", "AccuracySec": "100ms", "Persistent": "no"}


def test_the_unit_refreshes_with_a_credential() -> None:
    """The unit runs the command with the password of its credential, which is in no argument and no variable."""
    service = unit("orrery-refresh.service")["Service"]
    assert service["ExecStart"] == f'{PROGRAM} live refresh "{BASE}" --password-file %d/admin_password'
    assert service["LoadCredential"].startswith("admin_password:/etc/orrery/")
    assert (service["Type"], service["DynamicUser"]) == ("oneshot", "yes")


def test_the_units_are_ones_that_systemd_takes(tmp_path: Path) -> None:
    """systemd-analyze has nothing to say about the units, once the program is one that is there."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    for name, text in texts("systemd").items():
        (tmp_path / name).write_text(text.replace(PROGRAM, "/bin/true"))
    command = [program, "verify", *map(str, tmp_path.iterdir())]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603  our own arguments
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_the_worker_runs_each_minute() -> None:
    """The worker's settings start its own script each minute, and give it no address of its own."""
    files = texts("worker")
    settings = tomllib.loads(files["wrangler.toml"])
    assert settings["triggers"] == {"crons": ["* * * * *"]}
    assert settings["main"] in files
    assert settings["workers_dev"] is False
    assert "ADMIN_PASSWORD" in files["wrangler.toml"]
    assert f'"{BASE}{REFRESH_PATH}"' in files[settings["main"]]


def workflow() -> dict[Any, Any]:
    """Return the workflow, parsed."""
    return yaml.safe_load(texts("workflow")["refresh.yml"])


def test_the_workflow_is_started_by_hand_only() -> None:
    """The workflow has no schedule, since a shared scheduler drops nine ticks of ten (issue 3, item 6)."""
    triggers = workflow()[True]  # YAML reads the key `on` as a truth value
    assert list(triggers) == ["workflow_dispatch"]
    assert list(triggers["workflow_dispatch"]["inputs"]) == ["iterations"]


def test_the_workflow_hands_over_by_the_environment_only() -> None:
    """Neither secret nor input is pasted into the script, which may do nothing to the repository."""
    (step,) = workflow()["jobs"]["refresh"]["steps"]
    assert "${{" not in step["run"]
    assert set(step["env"]) == {"ADMIN_PASSWORD", "ITERATIONS", "INTERVAL", "REFRESH_URL"}
    assert step["env"]["REFRESH_URL"] == BASE + REFRESH_PATH
    assert workflow()["permissions"] == {}
