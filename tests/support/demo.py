"""`orrery demo` as a real process on free ports, ended the way a person ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx2
import stamina

from orrery.app.cli.demo import ADMIN_PASSWORD_FILE
from tests.support.forks import Forked
from tests.support.ports import free_ports, is_taken
from tests.support.waiting import PATIENCE


@dataclass(frozen=True)
class Demo:
    """A running demo: `process` leads a process group of its own, so that what it leaves behind is seen."""

    process: subprocess.Popen[bytes] | Forked
    ports: tuple[int, int, int, int, int]
    output: Path
    data: Path

    @property
    def shop(self) -> str:
        """Return the address of the shop."""
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def private(self) -> str:
        """Return the address of the private listener."""
        return f"http://127.0.0.1:{self.ports[1]}"

    @property
    def password(self) -> str:
        """Return the owner's password."""
        return (self.data / ADMIN_PASSWORD_FILE).read_text(encoding="utf-8").strip()

    @property
    def sandbox(self) -> str:
        """Return the address of the sandbox."""
        return f"http://127.0.0.1:{self.ports[2]}"

    def press_ctrl_c(self) -> int:
        """Interrupt the process group as a terminal does, and return the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(PATIENCE)

    def errors(self) -> list[str]:
        """Return the ends of the lines that it logged as errors."""
        lines = self.output.read_text(encoding="utf-8").splitlines()
        return [line[-300:] for line in lines if '"level": "error"' in line or '"level": "critical"' in line]

    def leaves_a_process(self) -> bool:
        """Tell whether any process of the group is left."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def leaves_a_port(self) -> bool:
        """Tell whether anything still listens on one of the ports."""
        return any(is_taken(port) for port in self.ports)


@contextmanager
def running_demo(data: Path, *, forked: bool = True) -> Generator[Demo]:
    """Start the demo on free ports over a data folder; afterwards nothing of it is left, whatever happened.

    It is `forked`, or starts a new interpreter as a person's does.
    """
    public, private, sandbox, smtp, cloud = free_ports(5)
    ports = (public, private, sandbox, smtp, cloud)
    names = ("--port", "--private-port", "--sandbox-port", "--smtp-port", "--cloud-port")
    options = zip(names, map(str, ports), strict=True)
    words = ["demo", "--data", str(data), *sum(options, ())]
    output = data.with_suffix(".log")
    with output.open("ab") as log:
        process = Forked(words, 0, log.fileno(), log.fileno()) if forked else _interpreted(words, log)
    demo = Demo(process, ports, output, data)
    try:
        _wait_for(demo)
        yield demo
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def _interpreted(words: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "orrery", *words]
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)  # noqa: S603 - our own command


@stamina.retry(on=httpx2.TransportError, attempts=None, timeout=PATIENCE, wait_initial=0.05, wait_max=0.2)
def _wait_for(demo: Demo) -> None:
    assert demo.process.poll() is None, demo.output.read_text(encoding="utf-8")
    httpx2.get(demo.shop, trust_env=False, timeout=PATIENCE)
    httpx2.get(demo.sandbox, trust_env=False, timeout=PATIENCE)
