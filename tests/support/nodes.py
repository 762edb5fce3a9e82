"""The nodes of a shop: several `orrery serve` over one store."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.deployment import Deployment
from tests.support.program import Program


@dataclass
class Node:
    """One of them, and the settings that it has for itself."""

    shop: Deployment
    config: Path
    address: str
    program: Program | None = None

    def start(self, source: Path | None = None, *, ahead: str = "") -> None:
        """Start it, perhaps from another source or with a clock that is ahead; it takes requests after this."""
        with pytest.MonkeyPatch.context() as here:
            if source:
                here.setenv("PYTHONPATH", str(source))
            self.program = self.shop.launch_service(self.config, ahead=ahead, forked=source is None)
        self.shop.await_answer(self.program, self.address)

    @property
    def running(self) -> Program:
        """The process that was started last."""
        assert self.program
        return self.program

    def end(self) -> None:
        """Stop it as the service manager does."""
        assert self.running.end() == 0, self.running.printed()

    def kill(self) -> None:
        """Kill it as a power cut does."""
        self.running.kill()

    def freeze(self, kind: signal.Signals = signal.SIGSTOP) -> None:
        """Stop it where it is, or with SIGCONT let it go on."""
        os.kill(self.running.process.pid, kind)
