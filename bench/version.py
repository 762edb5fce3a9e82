"""An older commit's code beside this one's, so that one run measures both, in turns."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.measurement import Figure, Round

ROOT = Path(__file__).resolve().parents[1]
_KEPT = ROOT / ".venv/against"
_PARTS = ("src", "bench", "tests", "deploy")


class CannotBeMeasured(Exception):
    """A measurement does not run over a commit's code."""


@dataclass(frozen=True, slots=True)
class Version:
    """The code of one commit: its name in the tables, and where it is."""

    name: str
    root: Path

    def round(self, measurement: str, *options: str) -> Round:
        """Make one round in a process of its own; raise `CannotBeMeasured` when it fails."""
        # Each start compiles again what may not be kept, and that would be measured.
        own = {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-m", "bench.round", *options, measurement]
        done = subprocess.run(  # noqa: S603  our own command
            command,
            cwd=self.root,
            env={**os.environ, **own},  # noqa: TID251  passed on
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise CannotBeMeasured(
                f"{measurement} of {self.name} failed: {(done.stderr.splitlines() or ['?'])[-1]}"
            )
        return [Figure(**one) for one in json.loads(done.stdout.splitlines()[-1])]


CURRENT = Version("this", ROOT)


def version_of(ref: str) -> Version:
    """Unpack a commit, and return it; it runs with this checkout's libraries.

    A commit without rounds is measured by this checkout's bench, as far as that finds what it needs there. Raises
    `CannotBeMeasured` for what is no commit.
    """
    folder = _KEPT / commit_of(ref)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    packed = _git("archive", folder.name, *_PARTS)
    subprocess.run(["/usr/bin/tar", "-x", "-C", str(folder)], input=packed, check=True)  # noqa: S603  our own
    if not (folder / "bench/round.py").exists():
        shutil.rmtree(folder / "bench")
        shutil.copytree(ROOT / "bench", folder / "bench")
    _write_command(folder)
    return Version(ref, folder)


def commit_of(ref: str) -> str:
    """Return the whole name of a commit; raise `CannotBeMeasured` for what is none."""
    try:
        return _git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
    except subprocess.CalledProcessError:
        raise CannotBeMeasured(f"There is no commit {ref!r} here.") from None


def _write_command(folder: Path) -> None:
    """Write the `orrery` that tests call by its path, here over the folder's own source."""
    command = folder / ".venv/bin/orrery"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={folder / "src"} exec {sys.executable} -m orrery "$@"\n')
    command.chmod(0o755)


def _git(*words: str) -> bytes:
    done = subprocess.run(["/usr/bin/git", "-C", str(ROOT), *words], capture_output=True, check=True)  # noqa: S603  our own
    return done.stdout
