"""Ready files that call the refresh each minute (issue 3, item 6), and the addresses that may stand in them."""

import configparser
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from orrery.errors import Invalid
from orrery.live.schedules import REFRESH_PATH, Kind, checked_base_url, ready_files

BASE = "https://counter.example.org"
PROGRAM = "/opt/orrery/.venv/bin/orrery"

GOOD = [
    BASE,
    f"{BASE}/",
    f"{BASE}:8443",
    f"{BASE}/one/two-3/~four_5.six",
    "https://xn--bcher-kva.example",
    "https://192.0.2.7:8443",
    "https://[2001:db8::1]",
    "http://localhost:8080",
    "http://127.0.0.1:8080",
    "http://127.8.8.8",
    "http://[::1]:8080",
    "HTTPS://Counter.Example.ORG",
]

STRANGE = [
    "",
    "counter.example.org",
    "ftp://counter.example.org",
    "https://",
    "https://-x.example",
    "https://x..example",
    "https://bücher.example",
    "https://user@counter.example.org",
    "https://user:pass@counter.example.org",
    f"{BASE}?x=1",
    f"{BASE}#x",
    f"{BASE}//x",
    f"{BASE}/../x",
    f"{BASE}/.",
    f"{BASE}:0",
    f"{BASE}:65536",
    f"{BASE}:99999999",
    "https://[::zz]",
    "https://[:::]",
    f"{BASE}/{'x' * 300}",
]

INJECTIONS = [
    f'{BASE}"; alert(1); "',
    f"{BASE}'",
    f"{BASE}\\",
    f"{BASE}`id`",
    f"{BASE}/$(id)",
    f"{BASE}/${{{{ secrets.OTHER }}}}",
    f"{BASE}/%n",
    f"{BASE}/%22",
    f"{BASE}/\nExecStartPre=/bin/true",
    f"{BASE}\n",
    f"{BASE}\r\nx: y",
    f"{BASE}/\u2028",
    f"{BASE} --config /etc/passwd",
    f"{BASE}; rm -rf x",
    f"{BASE}/@REFRESH_URL@",
    f"{BASE}/</script>",
    f"{BASE}/\x00",
]

CLEAR = ["http://counter.example.org", "http://192.0.2.7", "http://[2001:db8::1]", "http://localhost.example.org"]


@pytest.mark.parametrize("address", GOOD)
def test_an_address_of_a_service_is_taken(address: str) -> None:
    """Web addresses are taken, in clear for this machine only, and lose the slash at their end."""
    assert checked_base_url(address) == address.rstrip("/")


@pytest.mark.parametrize("address", [*STRANGE, *INJECTIONS])
def test_any_other_address_is_refused(address: str) -> None:
    """What is no plain address, or could mean something to a unit, a workflow or a script, is refused."""
    with pytest.raises(Invalid, match="The address must be like"):
        checked_base_url(address)


@pytest.mark.parametrize("address", CLEAR)
def test_another_machine_is_not_asked_in_clear(address: str) -> None:
    """An address to which the password would travel in clear is refused."""
    with pytest.raises(Invalid, match="must begin with https://"):
        checked_base_url(address)


@given(st.text(max_size=40))
def test_only_harmless_characters_get_in(text: str) -> None:
    """Whatever follows a good address, it is refused, or made of letters, digits and seven signs."""
    try:
        taken = checked_base_url(BASE + text)
    except Invalid:
        return
    assert all(letter.isascii() and (letter.isalnum() or letter in "-._~:/") for letter in taken)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_no_file_is_made_for_a_strange_address(kind: Kind) -> None:
    """Ready files are made for checked addresses only."""
    for address in INJECTIONS:
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
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)  # noqa: S603  our own arguments
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
