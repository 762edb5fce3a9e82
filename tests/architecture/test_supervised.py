"""What runs the tests leaves no process behind, however the run ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE, eventually
from tools.supervised import has_room

ROOT = Path(__file__).resolve().parents[2]
ENDED = "for _ in {{1..300}}; do (true &); done"
"""A browser leaves its processes so: they outlive it for a moment, and nobody of the test run waits for them."""
STARTS_ANOTHER = (
    ENDED
    + "; read -r other < <(exec setsid bash -c 'echo $$; exec sleep 600')"
    + "; echo $other; echo $TMPDIR; exec sleep {seconds}"
)


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)  # that of the run of this test


@pytest.mark.parametrize(
    ("number", "code"), [(None, 0), (signal.SIGTERM, 130), (signal.SIGHUP, 130), (signal.SIGINT, 130)]
)
def test_nothing_is_left(number: signal.Signals | None, code: int) -> None:
    """A process in a session of its own is killed and named after the command's end, which a signal may bring.

    What ended before is not named.
    """
    shell = STARTS_ANOTHER.format(seconds=600 if number else 0)
    command = [sys.executable, "-m", "tools.supervised", "bash", "-c", shell]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603  fixed words
        assert running.stdout
        assert running.stderr
        started, folder = int(running.stdout.readline()), running.stdout.readline().strip()
        if number:
            running.send_signal(number)
        assert running.wait(PATIENCE) == code
        assert running.stderr.read() == "Still running after the end, and killed: sleep\n"
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)
    assert bool(folder) == has_room()
    if folder:
        eventually(lambda: require_gone(Path(folder)))


@pytest.mark.parametrize("kill", [os.kill, os.killpg])
def test_nothing_is_left_by_a_kill(kill: Callable[[int, int], None]) -> None:
    """A process in a session of its own is killed, too, if SIGKILL ends what supervises it, or the whole group."""
    command = [sys.executable, "-m", "tools.supervised", "bash", "-c", STARTS_ANOTHER.format(seconds=600)]
    with subprocess.Popen(  # noqa: S603  fixed words
        command,
        cwd=ROOT,
        text=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout
        assert running.stderr
        started, folder = int(running.stdout.readline()), running.stdout.readline().strip()
        kill(running.pid, signal.SIGKILL)
        assert running.stderr.read() == "Still running after the end, and killed: sleep\n"
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)
    assert bool(folder) == has_room()
    if folder:
        eventually(lambda: require_gone(Path(folder)))


def require_gone(folder: Path) -> None:
    """Fail while the folder for temporary files is there."""
    assert not folder.exists()
