"""The command that hashes the admin password, as a person and a script run it (spec 2, Authentication 2)."""

import hashlib
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.waiting import PATIENCE

PASSWORD = "open sesame, please!"  # noqa: S105  a password of the tests
HASH = hashlib.sha256(PASSWORD.encode()).hexdigest()
COMMAND = [sys.executable, "-m", "orrery", "admin", "hash"]


def test_a_script_pipes_the_password_in() -> None:
    """The hash of one line of a pipe is printed, and nothing else."""
    result = subprocess.run(  # noqa: S603  our own command
        COMMAND, input=f"{PASSWORD}\n".encode(), capture_output=True, check=False, timeout=PATIENCE
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{HASH}\n".encode(), b"")


@dataclass
class Terminal:
    """The command at a terminal: what it shows is kept in `shown`, which includes what the terminal echoes."""

    screen: int
    process: subprocess.Popen[bytes]
    shown: bytes = b""

    def await_prompt(self, prompt: bytes) -> None:
        """Read until the prompt has come."""
        while prompt not in self.shown:
            assert select.select([self.screen], [], [], PATIENCE)[0], self.shown
            self.shown += os.read(self.screen, 1024)

    def type(self, line: bytes) -> None:
        """Type a line."""
        os.write(self.screen, line + b"\n")

    def end(self) -> tuple[int, bytes]:
        """Return the exit code and all that it printed besides the prompts."""
        out, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Run the command with a terminal for its input and its prompts, and a pipe for its output."""
    screen, keyboard = pty.openpty()
    process = subprocess.Popen(  # noqa: S603  our own command
        COMMAND, stdin=keyboard, stdout=subprocess.PIPE, stderr=keyboard, start_new_session=True
    )
    os.close(keyboard)
    yield Terminal(screen, process)
    process.kill()
    process.wait(PATIENCE)
    if process.stdout:
        process.stdout.close()
    os.close(screen)


def test_a_terminal_is_asked_twice_and_shows_nothing(terminal: Terminal) -> None:
    """At a terminal the password is asked for twice and not shown; the hash goes to the output."""
    for prompt in (b"Admin password: ", b"Once more: "):
        terminal.await_prompt(prompt)
        terminal.type(PASSWORD.encode())
    assert terminal.end() == (0, f"{HASH}\n".encode())
    assert PASSWORD.encode() not in terminal.shown


def test_two_different_passwords_are_refused(terminal: Terminal) -> None:
    """A password that was typed differently the second time is refused."""
    for prompt, typed in ((b"Admin password: ", PASSWORD), (b"Once more: ", PASSWORD + "x")):
        terminal.await_prompt(prompt)
        terminal.type(typed.encode())
    terminal.await_prompt(b"The two passwords differ.")
    assert terminal.end() == (2, b"")
