"""`orrery demo` as a real process on free ports, ended the way a person ends it."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from orrery.app.cli.demo import ADMIN_PASSWORD_FILE
from tests.support.ports import free_ports, is_taken
from tests.support.program import Program
from tests.support.waiting import PATIENCE, eventually


@dataclass(frozen=True)
class Demo:
    """A running demo."""

    program: Program
    ports: list[int]
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
    def sandbox(self) -> str:
        """Return the address of the sandbox."""
        return f"http://127.0.0.1:{self.ports[2]}"

    @property
    def password(self) -> str:
        """Return the owner's password."""
        return (self.data / ADMIN_PASSWORD_FILE).read_text(encoding="utf-8").strip()

    def press_ctrl_c(self) -> int:
        """Interrupt the process group as a terminal does, and return the exit code."""
        os.killpg(self.program.process.pid, signal.SIGINT)
        return self.program.process.wait(PATIENCE)

    def errors(self) -> list[str]:
        """Return the ends of the lines that it logged as errors."""
        lines = self.program.printed().splitlines()
        return [line[-300:] for line in lines if '"level": "error"' in line or '"level": "critical"' in line]

    def leaves_a_port(self) -> bool:
        """Tell whether anything still listens on one of the ports."""
        return any(map(is_taken, self.ports))


PORTS = "--port", "--private-port", "--sandbox-port", "--smtp-port", "--cloud-port"
"""The options of its ports, in the order of `DemoPorts`."""


@contextmanager
def running_demo(data: Path, *, forked: bool = True) -> Generator[Demo]:
    """Start the demo on free ports over a data folder; afterwards nothing of it is left, whatever happened.

    It is `forked`, or starts a new interpreter as a person's does.
    """
    ports = free_ports(len(PORTS))
    options = [word for name, port in zip(PORTS, ports, strict=True) for word in (name, str(port))]
    demo = Demo(Program(["demo", "--data", str(data), *options], data.with_suffix(".log"), forked), ports, data)

    def answers() -> None:
        demo.program.require_alive()
        for address in (demo.shop, demo.sandbox):
            httpx2.get(address, trust_env=False, timeout=PATIENCE)

    try:
        eventually(answers)
        yield demo
    finally:
        demo.program.clear_away()
