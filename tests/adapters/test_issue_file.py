"""The file of issues: readable by a person, shared by processes, and never written over when it is damaged."""

import asyncio
import fcntl
import json
from collections.abc import Coroutine
from pathlib import Path

import pytest
import stamina

from orrery.adapters.issue_file import FileTracker
from orrery.ports.tracker import Issue, TrackerFailed
from tests.support.clock import ManualClock

LABEL = "realtime-degraded"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the file goes: in a folder that is not there yet."""
    return tmp_path / "data" / "issues.json"


async def at_once(asked: list[Coroutine[None, None, Issue]]) -> list[Issue]:
    """Return what all of them return, done side by side."""
    return await asyncio.gather(*asked)


def tracker(path: Path) -> FileTracker:
    """Return a tracker at the path."""
    return FileTracker(path, ManualClock())


def test_a_person_can_read_it(path: Path) -> None:
    """The file is indented JSON with times, in the order of what happened."""
    issue = asyncio.run(tracker(path).open(LABEL, "The counter is degraded", "The site read is 12 minutes old."))
    asyncio.run(tracker(path).close(issue, "Well again 🪐"))
    at = "2026-03-01T12:00:00Z"
    assert path.read_text().startswith('{\n  "v": 1,\n  "issues": [\n    {\n      "id": "1",\n')
    assert "Well again 🪐" in path.read_text()
    assert json.loads(path.read_text())["issues"] == [
        {
            "id": "1",
            "state": "closed",
            "labels": [LABEL],
            "title": "The counter is degraded",
            "opened_at": at,
            "closed_at": at,
            "text": "The site read is 12 minutes old.",
            "comments": [{"at": at, "text": "Well again 🪐"}],
        }
    ]


def test_a_reader_sees_a_whole_file(path: Path) -> None:
    """Another file takes its place at each change: who has it open reads it to its end, and a kill cuts none."""
    asyncio.run(tracker(path).open(LABEL, "t", "x" * 100_000))
    with path.open() as before:
        asyncio.run(tracker(path).open(LABEL, "t", ""))
        assert len(json.load(before)["issues"]) == 1
    assert len(json.loads(path.read_text())["issues"]) == 2


def test_looking_writes_nothing(path: Path) -> None:
    """Where no issue was ever opened there is no file."""
    assert asyncio.run(tracker(path).find_open(LABEL)) is None
    assert not path.parent.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"v": 1, "issues": [{"id": "1"',
        b'{"v": 2, "issues": []}',
        b'{"v": 1, "issues": [{"id": "1"}]}',
    ],
)
def test_a_damaged_file(path: Path, content: bytes) -> None:
    """Every call leaves a damaged file unchanged, and its error names the file."""
    path.parent.mkdir()
    path.write_bytes(content)
    for asked in (
        tracker(path).find_open(LABEL),
        tracker(path).open(LABEL, "t", "b"),
        tracker(path).comment(Issue("1"), "b"),
        tracker(path).close(Issue("1"), "b"),
    ):
        with pytest.raises(TrackerFailed, match=r"issues\.json is damaged"):
            asyncio.run(asked)
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    """A folder in place of the file, or a file in place of its folder, is an error with its reason."""
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "issues.json"):
        with pytest.raises(TrackerFailed, match="cannot be used"):
            asyncio.run(tracker(path).open(LABEL, "t", "b"))


def test_many_at_once(path: Path) -> None:
    """Openings at the same moment are all kept, each under its own number."""
    issues = asyncio.run(at_once([tracker(path).open(LABEL, str(each), "b") for each in range(20)]))
    assert {issue.id for issue in issues} == {str(each) for each in range(1, 21)}
    assert len(json.loads(path.read_text())["issues"]) == 20


def test_another_process_holds_it(path: Path) -> None:
    """While another process holds the lock nothing is written, and the error says so; reading goes on."""
    issue = asyncio.run(tracker(path).open(LABEL, "t", "b"))
    before = path.read_bytes()
    with path.with_name("issues.json.lock").open("a") as held, stamina.set_testing(testing=True, attempts=2):
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TrackerFailed, match="Another process"):
            asyncio.run(tracker(path).comment(issue, "b"))
        assert asyncio.run(tracker(path).find_open(LABEL)) == issue
    assert path.read_bytes() == before


def test_an_issue_that_a_person_took_out(path: Path) -> None:
    """A number is not given twice when a person takes an earlier issue out of the file."""
    for title in ("one", "two"):
        asyncio.run(tracker(path).open(LABEL, title, "b"))
    file = json.loads(path.read_text())
    file["issues"] = file["issues"][1:]
    path.write_text(json.dumps(file))
    assert asyncio.run(tracker(path).open(LABEL, "three", "b")) == Issue("3")
