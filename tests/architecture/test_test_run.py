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


def test_which_sockets_a_test_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit test opens no socket; a suite that starts servers reaches them on loopback and nothing else."""
    monkeypatch.setenv("CI", "true")  # so that the browser suite runs where there is no browser
    files = {f"{suite}/test_planted.py": CONNECTS for suite in SUITES}
    result = run_tests(tmp_path, {"test_planted.py": CONNECTS} | files)
    assert "A test tried to use socket" in result.stdout
    rows = [line.split()[:4] for line in result.stdout.splitlines() if line.startswith(("unit", *SUITES))]
    assert sorted(rows) == [*([suite, "3", "-", "-"] for suite in SUITES), ["unit", "1", "2", "-"]]
    assert result.returncode == 1
