"""One of our own commands at a terminal that is its own, and somebody who reads and types there."""

import os
import pty
import re
import select
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.forks import Forked
from tests.support.waiting import PATIENCE

INTERRUPT = "\x03"
"""Ctrl-C."""

END_OF_INPUT = "\x04"
"""Ctrl-D."""


@dataclass
class Terminal:
    """A command at a terminal: all that it shows, what is typed included where that is echoed, is in `shown`."""

    screen: int
    process: Forked
    shown: str = ""
    _read: int = 0

    def wait_for(self, pattern: str) -> str:
        """Return what a pattern matches, or its first group, in what was not waited for before."""
        while not (found := re.search(pattern, self.shown[self._read :])):
            assert select.select([self.screen], [], [], PATIENCE)[0], self.shown
            self.shown += os.read(self.screen, 1024).decode(errors="replace")
        self._read += found.end()
        return found[found.re.groups]

    def type(self, text: str) -> None:
        """Type a text, and Enter unless it is a key."""
        os.write(self.screen, (text if text == INTERRUPT else f"{text}\n").encode(errors="surrogateescape"))

    def end(self) -> int:
        """Return the exit code."""
        return self.process.wait(PATIENCE)


@contextmanager
def terminal(*arguments: str, output: int | None = None) -> Generator[Terminal]:
    """Run `orrery <arguments>` at a terminal; what it prints goes to the file `output`, if there is one."""
    screen, keyboard = pty.openpty()
    process = Forked(arguments, keyboard, keyboard if output is None else output, keyboard)
    os.close(keyboard)
    try:
        yield Terminal(screen, process)
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(screen)
