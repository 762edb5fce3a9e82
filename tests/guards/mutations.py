"""Checks taken out of a copy of the source, and the tests that guard them, run against that copy."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import pytest

from tests.support.soak import SOAKING
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "orrery"

RUN = """
import sys, orrery, pytest
if not orrery.__file__.startswith(sys.argv[1]):
    sys.exit("another copy is imported: " + orrery.__file__)
sys.exit(pytest.main(["-x", "-p", "no:cacheprovider", "-p", "no:schemathesis", *sys.argv[2:]]))
"""


class Guarding(Protocol):
    """A module of mutations: those to try, and which tests guard which file."""

    TRIED: Sequence["Mutation"]
    GUARDS: Mapping[str, Sequence[str]]


Runs = Mapping[str, Future[subprocess.CompletedProcess[str]]]
"""What came of each mutation, by what it takes out."""


@dataclass(frozen=True)
class Mutation:
    """One check taken out: `old` stands exactly once in `file`, and `new` takes its place."""

    what: str
    file: str
    old: str
    new: str


def tried(mutations: Sequence[Mutation]) -> Sequence[Mutation]:
    """Return those to try: all in a soak, else the first, because each takes seconds."""
    return mutations if SOAKING else mutations[:1]


def copied(folder: Path) -> Path:
    """Copy the source with what was compiled of it, and return where the package lies."""
    return Path(shutil.copytree(SOURCE, folder / "orrery"))


def broken(folder: Path, *mutations: Mutation) -> Path:
    """Copy the source into a folder, take checks out of the copy, and return the package."""
    package = copied(folder)
    for one in mutations:
        file = package / one.file
        file.write_text(file.read_text(encoding="utf-8").replace(one.old, one.new), encoding="utf-8")
    return package


def guarded(package: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests against the copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}  # noqa: TID251  for a child
    # In a place of its own: runs side by side would clear away each other's temporary folders.
    command = [sys.executable, "-c", RUN, str(package), f"--basetemp={package.parent / 'tmp'}", *tests]
    return subprocess.run(  # noqa: S603  our own tests
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=10 * PATIENCE
    )


def mutated(folder: Path, mutation: Mutation, *tests: str) -> subprocess.CompletedProcess[str]:
    """Take the check out of a copy, and run the tests that guard it."""
    return guarded(broken(folder, mutation), *tests)


@contextmanager
def started(request: pytest.FixtureRequest, folders: pytest.TempPathFactory) -> Generator[Runs]:
    """Run those mutations of a module whose tests were asked for, side by side, a process for each core."""
    module = cast("Guarding", request.module)  # pyright: ignore[reportUnknownMemberType]  pytest gives it no type
    mutations, guards = module.TRIED, module.GUARDS
    names = [item.name for item in request.session.items if item.path == request.path]
    asked = [one for one in mutations if any(f"[{one.what}]" in name for name in names)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {one.what: pool.submit(mutated, folders.mktemp("mutated"), one, *guards[one.file]) for one in asked}


def see_fit(mutation: Mutation, guards: Mapping[str, Sequence[str]]) -> None:
    """See that a check stands in its file as the mutation says, and that the tests that guard it are there."""
    count = (SOURCE / mutation.file).read_text(encoding="utf-8").count(mutation.old)
    assert count == 1, "the code has changed: say here what the check looks like now"
    assert [test for test in guards[mutation.file] if not (ROOT / test.partition("::")[0]).exists()] == []


def see_pass(folder: Path, guards: Mapping[str, Sequence[str]]) -> None:
    """See that the guarding tests pass with a copy in which nothing was changed."""
    came = guarded(copied(folder), *sorted({test for tests in guards.values() for test in tests}))
    assert came.returncode == pytest.ExitCode.OK, came.stdout + came.stderr


def see_red(came: subprocess.CompletedProcess[str]) -> None:
    """See that one test failed, and for no other reason."""
    assert came.returncode == pytest.ExitCode.TESTS_FAILED, came.stdout + came.stderr
    assert "1 failed" in came.stdout
