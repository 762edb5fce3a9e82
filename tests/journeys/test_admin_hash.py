"""The command that hashes the admin password, as a person and a script run it (spec 2, Authentication 2)."""

import hashlib
from tempfile import TemporaryFile

from tests.journeys.terminal import terminal
from tests.support.program import run_orrery

PASSWORD = "open sesame, please!"  # noqa: S105  a password of the tests
HASH = hashlib.sha256(PASSWORD.encode()).hexdigest()
COMMAND = ("admin", "hash")


def test_a_script_pipes_the_password_in() -> None:
    """The hash of one line of a pipe is printed, and nothing else."""
    came = run_orrery(*COMMAND, given=f"{PASSWORD}\n")
    assert (came.returncode, came.stdout, came.stderr) == (0, f"{HASH}\n", "")


def test_a_terminal_is_asked_twice_and_shows_nothing() -> None:
    """At a terminal the password is asked for twice and not shown; the hash goes to the output."""
    with TemporaryFile() as output, terminal(*COMMAND, output=output.fileno()) as at:
        for prompt in ("Admin password: ", "Once more: "):
            at.wait_for(prompt)
            at.type(PASSWORD)
        assert at.end() == 0
        output.seek(0)
        assert output.read() == f"{HASH}\n".encode()
    assert PASSWORD not in at.shown


def test_two_different_passwords_are_refused() -> None:
    """A password that was typed differently the second time is refused."""
    with TemporaryFile() as output, terminal(*COMMAND, output=output.fileno()) as at:
        for prompt, typed in (("Admin password: ", PASSWORD), ("Once more: ", PASSWORD + "x")):
            at.wait_for(prompt)
            at.type(typed)
        at.wait_for("The two passwords differ.")
        assert at.end() == 2
        output.seek(0)
        assert output.read() == b""
