"""The file of issues under `kill -9`."""

import asyncio
import json
from pathlib import Path

import pytest

from orrery.adapters.issue_file import FileTracker
from orrery.ports.tracker import Issue
from tests.support.clock import ManualClock
from tests.support.soak import rounds
from tests.support.workers import working


def killed_after(path: Path, issues: int) -> list[str]:
    """Let a process open so many issues, kill it amid the next, and return the numbers that it told."""
    with working("issue_worker", path) as worker:
        return [worker.line() for _ in range(issues)]


def test_a_reader_sees_whole_files(tmp_path: Path) -> None:
    """While another process writes, anyone who reads sees the old file or the new one, and never a part."""
    path = tmp_path / "issues.json"
    tracker = FileTracker(path, ManualClock())
    with working("issue_worker", path) as worker:
        worker.line()
        looks = [asyncio.run(tracker.find_open("realtime-degraded")) for _ in range(rounds(150))]
    assert set(looks) == {Issue("1")}


@pytest.mark.parametrize("number", range(rounds(3)))
def test_what_was_told_is_there(number: int, tmp_path: Path) -> None:
    """After a kill the file is whole, holds every issue that was told, and takes the next one."""
    path = tmp_path / "issues.json"
    told = [*killed_after(path, 5 + number), *killed_after(path, 3)]
    stored = {one["id"]: one for one in json.loads(path.read_text())["issues"]}
    assert [stored[each]["comments"][0]["text"] for each in told] == ["Still degraded."] * len(told)
    issue = asyncio.run(FileTracker(path, ManualClock()).open("other", "t", "b"))
    assert issue.id not in stored
