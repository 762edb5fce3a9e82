"""Programs that the crash tests start: told to go, killed, and never left behind."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.forks import Forked
from tests.support.waiting import PATIENCE


class Worker:
    """One running program; `output` is what it prints."""

    def __init__(self, program: str, *arguments: str | Path) -> None:
        stdin, self._input = os.pipe()
        printed, stdout = os.pipe()
        self.output = os.fdopen(printed, encoding="utf-8")
        self.process = Forked(["-m", f"tests.{program}", *map(str, arguments)], stdin, stdout, 2)
        os.close(stdin)
        os.close(stdout)

    def line(self) -> str:
        """Return the next line that the worker prints; empty when it has ended."""
        return self.output.readline().rstrip("\n")

    def await_ready(self) -> None:
        """Wait until the worker is up."""
        assert self.line() == "ready"

    def go(self) -> None:
        """Let it begin."""
        os.write(self._input, b"go\n")

    def kill(self, within: float = 0) -> list[str]:
        """Kill it as a power cut would (`kill -9`), in some seconds; return the lines that it had printed."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(within)
        self.process.kill()
        return self.rest()

    def rest(self) -> list[str]:
        """Return the lines that are left once the worker has ended."""
        lines = self.output.read().splitlines()
        self.process.wait(PATIENCE)
        return lines

    def close(self) -> None:
        """Leave nothing behind."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self.output.close()
        os.close(self._input)


class Workers:
    """The workers of one test."""

    def __init__(self) -> None:
        self._started: list[Worker] = []

    def start(self, mode: str, store: Path, argument: str = "") -> Worker:
        """Start a worker of the store; it is up once its `await_ready` returns."""
        self._started.append(Worker("support.store_worker", mode, store, argument))
        return self._started[-1]

    def close(self) -> None:
        """End those that still run."""
        for worker in self._started:
            worker.close()


@contextmanager
def working(program: str, *arguments: str | Path) -> Generator[Worker]:
    """Have a program run until the end of the block."""
    worker = Worker(program, *arguments)
    try:
        yield worker
    finally:
        worker.close()


def killed_at_each_step(program: str, what: str, folder: Path, before: Path) -> list[str]:
    """Do `what` in many processes, each in its own copy of `before`, killed at another step; return the steps."""
    with working(program, what, folder, before) as worker:
        steps = worker.rest()
        assert worker.process.returncode == 0, steps
        return steps
