"""One of our own commands as a real process, ended or killed on purpose and never left behind."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from tests.support.forks import Forked
from tests.support.waiting import PATIENCE, eventually

MOST_PRINTED = 1 << 24
"""Bytes of one command's output that are read."""


class Program:
    """`orrery <arguments>`: it leads a process group of its own, so that what it leaves behind is seen.

    What it prints is added to the file `output`.
    """

    def __init__(self, arguments: Sequence[str], output: Path) -> None:
        self.output = output
        with output.open("ab") as log:
            self.process = Forked(arguments, 0, log.fileno(), log.fileno())

    def require_alive(self) -> None:
        """Fail with what it printed unless it runs."""
        if self.process.poll() is not None:
            raise RuntimeError(f"it ended with {self.process.returncode}: {self.printed()[-3000:]}")

    def printed(self) -> str:
        """Return everything that is in the output file."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End it as a power cut would (`kill -9`): this one process, so that an orphan would show."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def kill_within(self, seconds: float) -> None:
        """Kill it after `seconds`, unless it ends by itself before."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill()

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def leaves_a_process(self) -> bool:
        """Return whether any process of the group stays; one that is ending has its time for that."""
        try:
            eventually(self._expect_empty_group)
        except AssertionError:
            return True
        return False

    def _expect_empty_group(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 0)
            raise AssertionError

    def clear_away(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(PATIENCE)


def run_orrery(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run `orrery <arguments>` to its end, with `given` on its standard input, and return what came of it."""
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        stdin.write(given.encode())
        stdin.seek(0)
        process = Forked(arguments, stdin.fileno(), stdout.fileno(), stderr.fileno())
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
        printed = [os.pread(one.fileno(), MOST_PRINTED, 0).decode() for one in (stdout, stderr)]
    return subprocess.CompletedProcess(arguments, process.wait(PATIENCE), *printed)
