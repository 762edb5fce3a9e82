"""What calls the refresh from elsewhere, run for real against a service on this machine (issue 3, item 6)."""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright._impl._driver import compute_driver_executable

from orrery.live.schedules import ready_files
from tests.support.program import Program, run_orrery
from tests.support.refresh_endpoint import DONE, EXHAUSTED, PASSWORD, RefreshEndpoint, answer
from tests.support.serving import served
from tests.support.waiting import PATIENCE, eventually

WRONG = "a wrong password"


@pytest.fixture
def endpoint() -> RefreshEndpoint:
    """Return a refresh operation that succeeds until a test says otherwise."""
    return RefreshEndpoint()


@pytest.fixture
def address(endpoint: RefreshEndpoint) -> Iterator[str]:
    """Serve the operation."""
    with served(endpoint) as running:
        yield running


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> str:
    """Put the right password into the environment."""
    monkeypatch.setenv("ADMIN_PASSWORD", PASSWORD)
    return PASSWORD


# The command.


@pytest.mark.usefixtures("password")
def test_the_command_refreshes(address: str, endpoint: RefreshEndpoint) -> None:
    """The command posts once, prints one line, and ends with 0."""
    result = run_orrery("live", "refresh", address)
    assert (result.returncode, result.stderr) == (0, "")
    assert " ok active=12 pages=7 age=" in result.stdout
    assert result.stdout.count("\n") == 1
    assert [asked[:2] for asked in endpoint.asked] == [("POST", "/api/stats?refresh=realtime")]


@pytest.mark.usefixtures("password")
def test_the_last_refresh_decides(address: str, endpoint: RefreshEndpoint) -> None:
    """The command ends with 0 when its last refresh succeeded, and with 1 when that failed."""
    endpoint.answers = [answer(EXHAUSTED), answer(DONE)]
    again = ("live", "refresh", address, "--iterations", "2", "--interval", "1", "--json")
    mended = run_orrery(*again)
    assert [json.loads(line)["ok"] for line in mended.stdout.splitlines()] == [False, True]
    assert mended.returncode == 0
    endpoint.answers = [answer(DONE), answer(EXHAUSTED)]
    assert run_orrery(*again).returncode == 1


def test_the_password_comes_from_a_file(address: str, tmp_path: Path) -> None:
    """A password file is read, and its line's end is no part of the password."""
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    assert run_orrery("live", "refresh", address, "--password-file", str(tmp_path / "password")).returncode == 0


def test_a_wrong_password_is_told_and_not_shown(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong password is unauthorized; it stands in no output."""
    monkeypatch.setenv("ADMIN_PASSWORD", WRONG)
    result = run_orrery("live", "refresh", address)
    assert result.returncode == 1
    assert "failed Unauthorized" in result.stdout
    assert WRONG not in result.stdout + result.stderr


@pytest.mark.usefixtures("password")
def test_ctrl_c_ends_it_cleanly(address: str, tmp_path: Path) -> None:
    """Ctrl-C between two refreshes ends the command with a word, by the outcome of the last one."""
    program = Program(("live", "refresh", address, "--iterations", "25"), tmp_path / "output")
    try:
        eventually(lambda: _expect("ok active=12", program))
        assert program.end(signal.SIGINT) == 0
    finally:
        program.clear_away()
    assert "Stopped." in program.printed()
    assert "Traceback" not in program.printed()


def _expect(text: str, program: Program) -> None:
    """Fail, for now, unless a program printed that."""
    program.require_alive()
    assert text in program.printed()


@pytest.mark.usefixtures("password")
def test_the_settings_tell_this_machines_address(address: str, tmp_path: Path) -> None:
    """Without an address the command asks the service of the settings, also one that listens everywhere."""
    config = tmp_path / "orrery.toml"
    for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104  the command has to tell it from an address
        config.write_text(f'[server]\nhost = "{host}"\nport = {address.rpartition(":")[2]}\n')
        assert run_orrery("live", "refresh", "--config", str(config)).returncode == 0


def test_the_credentials_of_its_unit_are_no_settings(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an address no settings are read, since the unit's folder of credentials holds none of their secrets."""
    (tmp_path / "admin_password").write_text(PASSWORD)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    file = str(tmp_path / "admin_password")
    assert run_orrery("live", "refresh", address, "--password-file", file).returncode == 0


# The worker.


def node() -> str:
    """Return a JavaScript runtime: the system's, or the one that Playwright brings."""
    try:
        ctypes.CDLL("libatomic.so.1")
    except OSError:
        bundled = None
    else:
        bundled = str(compute_driver_executable()[0])
    found = shutil.which("node") or bundled
    if found is None:
        pytest.skip("there is no node on this machine")
    return found


def run_worker(folder: Path, address: str, secret: str | None, deadline: str = "20_000") -> tuple[int, str]:
    """Run the worker's scheduled job once as its platform would; return the exit code and all that was printed."""
    for file in ready_files("worker", address):
        (folder / file.name).write_text(file.text.replace("20_000", deadline))
    env = {} if secret is None else {"ADMIN_PASSWORD": secret}
    script = f'import worker from "./refresh-worker.mjs"; await worker.scheduled({{}}, {json.dumps(env)});'
    result = subprocess.run(  # noqa: S603  our own script
        [node(), "--input-type=module", "--eval", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return result.returncode, result.stdout + result.stderr


def test_the_worker_refreshes(address: str, endpoint: RefreshEndpoint, tmp_path: Path) -> None:
    """The worker's scheduled job posts once with its secret, and says what came of it."""
    assert run_worker(tmp_path, address, f"{PASSWORD}\n") == (0, "Refreshed: 12 active.\n")
    assert [asked[:2] for asked in endpoint.asked] == [("POST", "/api/stats?refresh=realtime")]


@pytest.mark.parametrize(
    ("secret", "given", "says"),
    [
        (WRONG, answer(DONE), "HTTP 401, Unauthorized"),
        (PASSWORD, answer(EXHAUSTED), "HTTP 200, quota-exhausted"),
        (PASSWORD, answer(b"<html>", 502), "HTTP 502, not an answer"),
        (PASSWORD, answer(b"null"), "HTTP 200, not an answer"),
        (PASSWORD, answer({"ok": False, "error": f"no {PASSWORD}"}), "not an answer"),
        (PASSWORD, answer(b"", 307, location="/elsewhere"), "HTTP 307, not an answer"),
        (None, answer(DONE), "The secret ADMIN_PASSWORD is missing"),
        ("  ", answer(DONE), "The secret ADMIN_PASSWORD is missing"),
        (f"{PASSWORD}\nx", answer(DONE), "is not printable ASCII"),
        (f"{PASSWORD}日", answer(DONE), "is not printable ASCII"),
    ],
)
def test_the_worker_fails_loudly(
    address: str,
    endpoint: RefreshEndpoint,
    tmp_path: Path,
    secret: str | None,
    given: tuple[int, bytes, dict[str, str]],
    says: str,
) -> None:
    """A refresh that did not succeed fails the worker's run, with its reason and without the secret."""
    endpoint.answers = [given]
    code, printed = run_worker(tmp_path, address, secret)
    assert code != 0
    assert says in printed
    assert not (secret or "").strip() or (secret or "").strip() not in printed
    assert not any(path == "/elsewhere?" for _, path, _ in endpoint.asked)


def test_the_worker_has_a_deadline(tmp_path: Path) -> None:
    """A service that takes the connection and says nothing does not hold the worker."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        code, printed = run_worker(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}", PASSWORD, "300")
    assert code != 0
    assert "Timeout" in printed


# The workflow.


def run_step(address: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the workflow's script as its runner would: bash that stops at errors, and the step's variables."""
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    (file,) = ready_files("workflow", address)
    (step,) = yaml.safe_load(file.text)["jobs"]["refresh"]["steps"]
    variables = {"ADMIN_PASSWORD": PASSWORD, "ITERATIONS": "1", "INTERVAL": "0", **more}
    (folder / "step.sh").write_text(step["run"])
    return subprocess.run(  # noqa: S603  our own script
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(folder / "step.sh")],  # noqa: S607  bash from the path
        env={"PATH": os.defpath, "REFRESH_URL": step["env"]["REFRESH_URL"], **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_the_workflow_refreshes(address: str, endpoint: RefreshEndpoint, tmp_path: Path) -> None:
    """The workflow's script posts as often as it is told, with the password as its bearer."""
    result = run_step(address, tmp_path, ITERATIONS="3")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count(' HTTP 200 {"ok":true,"active":12,') == 3
    assert [asked[:2] for asked in endpoint.asked] == [("POST", "/api/stats?refresh=realtime")] * 3


def test_the_workflow_keeps_its_interval(address: str, endpoint: RefreshEndpoint, tmp_path: Path) -> None:
    """Between two refreshes the script waits for what is left of the interval, and not after the last."""
    noted = {"BASH_FUNC_sleep%%": '() { echo "$1" >>slept; }'}
    run_step(address, tmp_path, ITERATIONS="2", INTERVAL="3600", **noted)
    (slept,) = (tmp_path / "slept").read_text().split()
    assert 1 <= int(slept) <= 3600
    assert len(endpoint.asked) == 2


def test_the_workflow_ends_as_its_last_refresh(address: str, endpoint: RefreshEndpoint, tmp_path: Path) -> None:
    """The script fails when its last refresh failed, and not for one before."""
    endpoint.answers = [answer(EXHAUSTED), answer(DONE)]
    assert run_step(address, tmp_path, ITERATIONS="2").returncode == 0
    endpoint.answers = [answer(DONE), answer(EXHAUSTED)]
    assert run_step(address, tmp_path, ITERATIONS="2").returncode == 1


@pytest.mark.parametrize(
    "iterations", ["", "0", "26", "-1", "1.5", "1; touch here", "$(touch here)", "x\n1", "1\nx"]
)
def test_the_workflow_takes_numbers_only(
    address: str, endpoint: RefreshEndpoint, tmp_path: Path, iterations: str
) -> None:
    """An input that is no number from 1 to 25 ends the script before anything is sent or run."""
    result = run_step(address, tmp_path, ITERATIONS=iterations)
    assert (result.returncode, result.stdout) == (2, "")
    assert (endpoint.asked, (tmp_path / "here").exists()) == ([], False)


@pytest.mark.parametrize("secret", ["", f"{PASSWORD}\nX-More: y", f"{PASSWORD}日"])
def test_the_workflow_sends_no_broken_header(
    address: str, endpoint: RefreshEndpoint, tmp_path: Path, secret: str
) -> None:
    """A secret that is missing, or would be more than one header, ends the script before anything is sent."""
    result = run_step(address, tmp_path, ADMIN_PASSWORD=secret)
    assert (result.returncode, endpoint.asked) == (2, [])
    assert not secret or secret not in result.stdout + result.stderr


@pytest.mark.parametrize(
    "given",
    [
        answer(b"", 307, location="/elsewhere"),
        answer(b"<html>", 502),
        answer(b"::error::x\n::set-env name=X::y"),
        answer(DONE, 500),
        answer({"ok": False, "error": '"ok":true'}),
    ],
    ids=["redirect", "page", "commands for the runner", "status", "a lie"],
)
def test_the_workflow_fails_for_anything_else(
    address: str, endpoint: RefreshEndpoint, tmp_path: Path, given: tuple[int, bytes, dict[str, str]]
) -> None:
    """What is no success fails the script; a redirect is not followed, and no line is the service's own."""
    endpoint.answers = [given]
    result = run_step(address, tmp_path)
    assert result.returncode == 1
    assert len(endpoint.asked) == 1
    assert all(line.startswith("20") for line in result.stdout.splitlines())


def test_the_workflow_tells_that_nobody_is_there(tmp_path: Path) -> None:
    """A service that cannot be reached fails the script, and its words do not hold the password."""
    result = run_step("http://127.0.0.1:9", tmp_path)
    assert result.returncode == 1
    assert PASSWORD not in result.stdout + result.stderr
