"""A command of Orrery as another process, for what another role may do and this one may not."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from orrery.errors import DependencyFailed, NotConfigured


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code, what it printed as output, and what it noted beside that."""

    code: int
    printed: str
    notes: str

    @property
    def sentence(self) -> str:
        """The last of its notes, which is why it failed."""
        lines = self.notes.splitlines()
        return lines[-1] if lines else f"exit {self.code}"


def run_command(
    arguments: Sequence[str], given: bytes, seconds: int, too_late: str, *, user: str | None = None
) -> Ended:
    """Run `orrery` with `given` as its input.

    Root may run it as another `user`, with that user's group alone. Raises `DependencyFailed` with the words
    `too_late` when it takes longer than `seconds`.
    """
    command = (sys.executable, "-P", "-m", "orrery", *arguments)
    try:
        run = subprocess.run(  # noqa: S603  our own
            command,
            input=given,
            capture_output=True,
            timeout=seconds,
            check=False,
            user=user,
            group=user,
            extra_groups=None if user is None else (),
        )
    except subprocess.TimeoutExpired:
        raise DependencyFailed(too_late) from None
    return Ended(run.returncode, run.stdout.decode(), run.stderr.decode(errors="replace").strip())


def failure(code: int) -> type[NotConfigured]:
    """Return the error for an exit code: 2 is a wrong setting in the other process, too (decision 54)."""
    return NotConfigured if code == NotConfigured.exit_code else DependencyFailed
