"""An older commit's code beside this one's, so that one run measures both, in turns."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_ROOT = Path(__file__).resolve().parents[1]
_KEPT = _ROOT / ".venv/against"

One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Version:
    """The package of one commit: its name in the tables, and how its command begins."""

    name: str
    command: Sequence[str]


CURRENT = Version("this", (str(_ROOT / ".venv/bin/orrery"),))


def version_of(ref: str) -> Version:
    """Unpack the package of a commit, once, and return it; it runs with this checkout's libraries.

    Raises `CalledProcessError` for what is no commit.
    """
    commit = _git("rev-parse", "--verify", f"{ref}^{{commit}}").decode().strip()
    folder = _KEPT / commit
    folder.mkdir(parents=True, exist_ok=True)
    packed = _git("archive", commit, "src")
    _ = subprocess.run(["/usr/bin/tar", "-x", "-C", str(folder)], input=packed, check=True)  # noqa: S603  our own
    return Version(ref, ("/usr/bin/env", f"PYTHONPATH={folder / 'src'}", sys.executable, "-m", "orrery"))


def in_turns(sides: Sequence[Sequence[One]]) -> Iterator[One]:
    """Yield the first of each side, then the second of each, and so on."""
    for turn in zip(*sides, strict=True):
        yield from turn


def _git(*words: str) -> bytes:
    done = subprocess.run(["/usr/bin/git", "-C", str(_ROOT), *words], capture_output=True, check=True)  # noqa: S603  our own
    return done.stdout
