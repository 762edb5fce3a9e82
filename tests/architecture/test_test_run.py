"""What every test run does: sockets, the table of times, and the closing line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONNECTS = """
import asyncio, socket
import pytest

def test_connects():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

def test_connects_abroad():
    with pytest.raises(Exception, match="198.51.100.1"):
        socket.create_connection(("198.51.100.1", 9), timeout=5)

def test_loops():
    asyncio.run(asyncio.sleep(0))
"""


SUITES = ["browser", "conformance", "crash", "journeys", "nginx", "rehearsal", "sandbox"]


def run_tests(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run test files (path under tests/ -> text) under this project's own configuration."""
    for name, text in files.items():
        path = folder / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words


def test_unit_tests_open_no_socket(tmp_path: Path) -> None:
    """In a unit test a socket cannot even be opened, while an event loop still runs."""
    result = run_tests(tmp_path, {"test_planted.py": CONNECTS})
    assert "A test tried to use socket" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("2 failed, 1 passed")
    assert result.returncode == 1


def test_suites_with_servers_connect_to_this_machine_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that starts servers reaches them on loopback and nothing else, and has its row in the table."""
    monkeypatch.setenv("CI", "true")  # so that the browser suite runs where there is no browser
    result = run_tests(tmp_path, {f"{suite}/test_planted.py": CONNECTS for suite in SUITES})
    assert result.returncode == 0, result.stdout
    rows = [line.split()[:4] for line in result.stdout.splitlines() if line.startswith(tuple(SUITES))]
    assert sorted(rows) == [[suite, "3", "-", "-"] for suite in SUITES]
    assert result.stdout.splitlines()[-1].startswith("21 passed in ")


def test_a_suite_may_have_a_conftest_of_its_own(tmp_path: Path) -> None:
    """The table of times also stands where one suite has fixtures that another does not see."""
    planted = "def test_x(): pass"
    files = {"crash/conftest.py": "", "crash/test_planted.py": planted, "docs/test_planted.py": planted}
    result = run_tests(tmp_path, files)
    assert result.returncode == 0, result.stdout
    assert {"crash", "docs"} <= {line.split()[0] for line in result.stdout.splitlines() if line.strip()}


def test_the_browser_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that the browser suite leaves running disturbs no other suite, whatever its name."""
    monkeypatch.setenv("CI", "true")
    leaves_a_loop = "import asyncio\n\ndef test_x(): asyncio._set_running_loop(asyncio.new_event_loop())"
    runs_a_loop = "import asyncio\n\ndef test_x(): asyncio.run(asyncio.sleep(0))"
    files = {"browser/test_x.py": leaves_a_loop, "crash/test_x.py": runs_a_loop, "test_x.py": runs_a_loop}
    result = run_tests(tmp_path, files)
    failures = [
        line for line in result.stdout.splitlines() if "cannot be called from a running event loop" in line
    ]
    assert failures == []


def test_suites_with_servers_take_turns_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that waits is spread over one that computes, after those without servers, and before the browser."""
    monkeypatch.setenv("CI", "true")
    planted = "def test_x():\n    with open('order', 'a') as file:\n        print(__file__, file=file)"
    journeys = [f"journeys/test_{number}" for number in range(6)]
    names = ["test_1", "browser/test_1", *journeys, "systemd/test_1", "systemd/test_2"]
    files = {f"{name}.py": planted for name in names}
    result = run_tests(tmp_path, files, "-n1", "--dist=loadfile", "--no-loadscope-reorder")
    assert result.returncode == 0, result.stdout
    ran = [Path(line).parent.name for line in (tmp_path / "order").read_text().splitlines()]
    turns = ["journeys", "systemd", "journeys", "journeys"]
    assert ran == ["tests", "journeys", *turns, "journeys", "systemd", "journeys", "browser"]


def test_a_warning_fails_the_run(tmp_path: Path) -> None:
    """A warning that nobody expected is an error."""
    result = run_tests(
        tmp_path, {"test_planted.py": "import warnings\n\ndef test_x():\n    warnings.warn('old')\n"}
    )
    assert result.returncode == 1
