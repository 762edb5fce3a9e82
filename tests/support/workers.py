"""Processes for the crash tests of the store: started, told to go, killed, and never left behind."""

import subprocess
import sys
from pathlib import Path
from typing import IO

from tests.support.waiting import PATIENCE

WORKER = Path(__file__).with_name("store_worker.py")


class Worker:
    """One running `store_worker.py`."""

    def __init__(self, mode: str, store: Path, argument: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, str(WORKER), mode, str(store), argument],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def output(self) -> IO[str]:
        """What the worker prints."""
        assert self._process.stdout is not None
        return self._process.stdout

    def line(self) -> str:
        """Return the next line that the worker prints; empty when it has ended."""
        return self.output.readline().rstrip("\n")

    def await_ready(self) -> None:
        """Wait until the worker is up."""
        assert self.line() == "ready"

    def go(self) -> None:
        """Let it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def kill(self) -> list[str]:
        """Kill it as a power cut would (`kill -9`), and return the lines that it had printed."""
        self._process.kill()
        return self.rest()

    def rest(self) -> list[str]:
        """Return the lines that are left once the worker has ended."""
        lines = self.output.read().splitlines()
        self._process.wait(PATIENCE)
        return lines

    def close(self) -> None:
        """Leave nothing behind."""
        self._process.kill()
        self._process.wait(PATIENCE)
        self.output.close()
        if self._process.stdin is not None:
            self._process.stdin.close()


class Workers:
    """The workers of one test."""

    def __init__(self) -> None:
        self._started: list[Worker] = []

    def start(self, mode: str, store: Path, argument: str = "") -> Worker:
        """Start a worker; it is up once its `await_ready` returns."""
        self._started.append(Worker(mode, store, argument))
        return self._started[-1]

    def close(self) -> None:
        """End those that still run."""
        for worker in self._started:
            worker.close()
