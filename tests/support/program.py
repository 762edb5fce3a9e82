"""One of our own commands as a real process, ended or killed on purpose and never left behind."""

import asyncio
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from orrery.app.main import command_of, main
from tests.support.forks import Forked
from tests.support.waiting import PATIENCE, eventually

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
"""What shows a program another time, where it is installed."""

MOST_PRINTED = 1 << 24
"""Bytes of one command's output that are read."""


class Program:
    """`orrery <arguments>`: it leads a process group of its own, so that what it leaves behind is seen.

    What it prints is added to the file `output`. It is forked, or starts a new interpreter as a person's does; so
    does one whose machine's clock is `ahead`, such as by `+1h`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        output: Path,
        forked: bool = True,  # noqa: FBT001, FBT002  its name says it
        ahead: str = "",
    ) -> None:
        self.output = output
        with output.open("ab") as log:
            if forked and not ahead:
                self.process = Forked(arguments, 0, log.fileno(), log.fileno())
            else:
                # The command `faketime` would be another process, and be killed in the place of this one.
                clock = ["env", f"LD_PRELOAD={FAKETIME}", f"FAKETIME={ahead}"] if ahead else []
                command = [*clock, sys.executable, "-m", "orrery", *arguments]
                self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)  # noqa: S603  our own command

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


def typed(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Do as `run_orrery` does, in this process: most of a command's computing is that of its process.

    It is for what a command does and prints. Where this thread may not, a process is started all the same: beside
    others, within an event loop, and for a command that changes its process.
    """
    if threading.current_thread() is not threading.main_thread() or _in_a_loop() or _is_plain(arguments):
        return run_orrery(*arguments, given=given)
    stdin, stdout, stderr = (io.TextIOWrapper(io.BytesIO(one), "utf-8") for one in (given.encode(), b"", b""))
    code: object = 0
    with pytest.MonkeyPatch.context() as here, redirect_stdout(stdout), redirect_stderr(stderr):
        here.setattr(sys, "argv", ["orrery", *arguments])
        here.setattr(sys, "stdin", stdin)
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    assert isinstance(code, int), code
    return subprocess.CompletedProcess(arguments, code, *map(_written, (stdout, stderr)))


def _written(file: io.TextIOWrapper) -> str:
    file.flush()
    file.seek(0)
    return file.read()


def _is_plain(arguments: Sequence[str]) -> bool:
    command = command_of(arguments)
    return command is not None and command.plain


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
