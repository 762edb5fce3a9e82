"""A command of Orrery as another process, for what another role may do and this one may not."""

import subprocess
import sys
from collections.abc import Sequence

from orrery.errors import DependencyFailed, NotConfigured


def run_command(arguments: Sequence[str], given: bytes, seconds: int, too_late: str) -> tuple[int, str, str]:
    """Run `orrery` with `given` as its input; return its exit code, its output, and why it failed.

    Raises `DependencyFailed` with the words `too_late` when it takes longer than `seconds`.
    """
    command = (sys.executable, "-P", "-m", "orrery", *arguments)
    try:
        run = subprocess.run(command, input=given, capture_output=True, timeout=seconds, check=False)  # noqa: S603  our own
    except subprocess.TimeoutExpired:
        raise DependencyFailed(too_late) from None
    lines = run.stderr.decode(errors="replace").strip().splitlines()
    return run.returncode, run.stdout.decode(), lines[-1] if lines else f"exit {run.returncode}"


def failure(code: int) -> type[NotConfigured]:
    """Return the error for an exit code: 2 is a wrong setting in the other process, too (decision 54)."""
    return NotConfigured if code == NotConfigured.exit_code else DependencyFailed
