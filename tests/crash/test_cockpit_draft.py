"""Making a draft under `kill -9`: afterwards there is no draft or a whole one, and never two (decision 36)."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.support.draft_worker import COMMENT, KEY, draft
from tests.support.soak import rounds
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "tests.support.draft_worker"]


def killed_at_each_step(folder: Path, before: Path) -> list[str]:
    """Kill one process at each step of a draft, in its own copy of `before`; return the steps."""
    command = [*COMMAND, "killed", str(folder), str(before)]
    done = subprocess.run(  # noqa: S603  our own program
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True
    )
    return done.stdout.splitlines()


def whole_drafts(folder: Path) -> list[str]:
    """Return the names of the drafts that a reader sees; each is whole."""
    found = [*folder.glob("*.json")]
    assert all(json.loads(one.read_text("utf-8"))["text"].startswith(COMMENT) for one in found)
    return sorted(one.stem for one in found)


def files(folder: Path) -> list[str]:
    """Return the names of everything in a folder."""
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture
def nothing(tmp_path: Path) -> Path:
    """Return a folder that is not there."""
    return tmp_path / "nothing"


@pytest.fixture
def left_over(tmp_path: Path, nothing: Path) -> Path:
    """Return the folder of a process that was killed while it wrote."""
    folder = tmp_path / "left over"
    folder.mkdir()
    steps = killed_at_each_step(folder, nothing)
    return folder / str(steps.index("c_call fsync") + 1)


@pytest.mark.parametrize("before", ["nothing", "left_over"])
def test_a_kill_at_each_step(before: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Wherever making a draft was killed, the next call finds the draft or makes it, and nothing else is left."""
    folder = tmp_path / "folders"
    folder.mkdir()
    steps = killed_at_each_step(folder, request.getfixturevalue(before))
    outcomes: set[bool] = set()
    for step in range(1, len(steps) + 2):
        place = folder / str(step)
        found = whole_drafts(place)
        is_new = asyncio.run(draft(place))
        assert is_new is (found == []), steps[step - 1 :][:1]
        assert (whole_drafts(place), files(place)) == ([KEY], [f"{KEY}.json"])
        outcomes.add(is_new)
    assert outcomes == {True, False}
    assert {"c_call open", "c_return flock", "c_call write", "c_call fsync", "c_return replace"} <= {*steps}


def test_a_draft_outlives_a_power_cut(tmp_path: Path, nothing: Path) -> None:
    """The content is on the disk before the draft has its name, and the name is there before the answer."""
    steps = killed_at_each_step(tmp_path, nothing)
    written = [step for step in steps if step in {"c_return write", "c_return fsync", "c_return replace"}]
    assert written == ["c_return write", "c_return fsync", "c_return replace", "c_return fsync"]


def test_what_a_kill_leaves_is_seen(left_over: Path) -> None:
    """The kills do come amid the writing: one leaves an unfinished file, which no reader takes for a draft."""
    assert len(files(left_over)) == 1
    assert whole_drafts(left_over) == []


@contextmanager
def drafting(folder: Path) -> Generator[IO[str]]:
    """Let a process make drafts; yield where it prints their keys, and kill it."""
    command = [*COMMAND, "drafting", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  our own program
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()


def test_a_reader_sees_whole_drafts(tmp_path: Path) -> None:
    """While another process makes drafts, each that a reader sees is whole; those that were told of stay."""
    with drafting(tmp_path) as printed:
        told = list[str]()
        for _ in range(rounds(30)):
            told.append(printed.readline().split()[0])
            whole_drafts(tmp_path)
    assert {*told} <= {*whole_drafts(tmp_path)}


def test_two_processes_make_one(tmp_path: Path) -> None:
    """Of two processes that make the same drafts at the same time, one makes each and the other finds it."""
    with drafting(tmp_path) as first, drafting(tmp_path) as second:
        told = [[each.readline().split() for _ in range(rounds(15))] for each in (first, second)]
    assert [key for key, _ in told[0]] == [key for key, _ in told[1]]
    assert all({one[1], other[1]} == {"new", "found"} for one, other in zip(*told, strict=True))
    assert {key for key, _ in told[0]} <= {*whole_drafts(tmp_path)}
