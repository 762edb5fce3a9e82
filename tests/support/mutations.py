"""Checks taken out of a copy of the source, and the tests that guard them, run against that copy."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "orrery"

RUN = """
import sys, orrery, pytest
if not orrery.__file__.startswith(sys.argv[1]):
    sys.exit("another copy is imported: " + orrery.__file__)
sys.exit(pytest.main(["-x", "-p", "no:cacheprovider", "-p", "no:schemathesis", *sys.argv[2:]]))
"""


@dataclass(frozen=True)
class Mutation:
    """One check taken out: `old` stands exactly once in `file`, and `new` takes its place."""

    what: str
    file: str
    old: str
    new: str


def copied(folder: Path) -> Path:
    """Copy the source with what was compiled of it, and return where the package lies."""
    return Path(shutil.copytree(SOURCE, folder / "orrery"))


def guarded(package: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests against the copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}  # noqa: TID251  for a child
    # In a place of its own: runs side by side would clear away each other's temporary folders.
    command = [sys.executable, "-c", RUN, str(package), f"--basetemp={package.parent / 'tmp'}", *tests]
    return subprocess.run(  # noqa: S603  our own tests
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def mutated(folder: Path, mutation: Mutation, *tests: str) -> subprocess.CompletedProcess[str]:
    """Take the check out of a copy, and run the tests that guard it."""
    package = copied(folder)
    file = package / mutation.file
    text = file.read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, "the code has changed: say here what the check looks like now"
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    return guarded(package, *tests)
