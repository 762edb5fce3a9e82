"""Run the test suites, and learn from the file that the run writes what came of each test."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMPLETE = (0, 1)
"""Exit codes of a run that came to its end: all passed, or some failed."""


@dataclass(frozen=True)
class Outcome:
    """How many tests passed and were skipped, which failed, and which of those work with real processes."""

    passed: int
    skipped: int
    failed: list[str]
    repeatable: list[str]


def run(*command: str, minutes: float | None = None, **environment: str) -> Outcome | None:
    """Run a command that runs tests, and end it after these minutes.

    Returns what came of the tests, or None when the run did not come to its end.
    """
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outcomes.json"
        with subprocess.Popen(command, env=_environment(environment, file)) as started:  # noqa: S603  our own commands
            try:
                code = started.wait(minutes and minutes * 60)
            except subprocess.TimeoutExpired:
                show(f"\nThe tests still run after {minutes:g} minutes, and are ended. What failed until now:")
                started.terminate()
                code = started.wait()
        return _read(file) if code in COMPLETE and file.exists() else None


def _environment(more: Mapping[str, str], file: Path) -> dict[str, str]:
    return {**os.environ, **more, "TEST_OUTCOMES": str(file)}  # noqa: TID251  for a child


def _read(file: Path) -> Outcome:
    found = json.loads(file.read_text(encoding="utf-8"))
    return Outcome(found["passed"], found["skipped"], found["failed"], found["repeatable"])


def show(text: str) -> None:
    """Print a line at once, among what the runs print."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
