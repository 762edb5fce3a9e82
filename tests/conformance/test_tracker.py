"""What every adapter of the tracker port does (decision 29)."""

import asyncio
import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from orrery.adapters.github import GitHubTracker
from orrery.adapters.issue_file import FileTracker
from orrery.ports.tracker import Issue, Tracker, TrackerFailed
from orrery.sandbox.tracker import REPOSITORY
from tests.support.clock import ManualClock
from tests.support.running_sandbox import Running, receiving, running
from tests.support.trackers import MemoryTracker

TEXTS = ["Short.", 'Two\nlines, *stars*, <b>tags</b> & "quotes"', "žluťoučký 🪐", "x" * 5000]


@dataclass(frozen=True)
class Kept:
    """What became of an issue, read past the port."""

    state: str
    label: str
    title: str
    body: str
    comments: list[str]


@dataclass(frozen=True)
class Subject:
    """A tracker, and how to look at what it keeps by id."""

    tracker: Tracker
    kept: Callable[[str], Kept]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    """One sandbox for all tests: each has a label of its own."""
    with receiving() as receiver, running(tmp_path_factory.mktemp("sandbox"), receiver) as one:
        yield one


@pytest.fixture(params=["memory", "file", "github"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Subject:
    """Return a tracker of each adapter."""
    match request.param:
        case "memory":
            return _in_memory(MemoryTracker())
        case "file":
            return _in_file(tmp_path / "issues.json")
        case _:
            return _on_github(request.getfixturevalue("box"))


def _in_memory(tracker: MemoryTracker) -> Subject:
    def kept(issue: str) -> Kept:
        one = next(one for one in tracker.issues if one.id == issue)
        return Kept("open" if one.is_open else "closed", one.label, one.title, one.body, one.comments)

    return Subject(tracker, kept)


def _in_file(path: Path) -> Subject:
    def kept(issue: str) -> Kept:
        one = next(one for one in json.loads(path.read_text())["issues"] if one["id"] == issue)
        comments = [each["text"] for each in one["comments"]]
        return Kept(one["state"], one["labels"][0], one["title"], one["text"], comments)

    return Subject(FileTracker(path, ManualClock()), kept)


def _on_github(box: Running) -> Subject:
    def kept(issue: str) -> Kept:
        url = f"/tracker/repos/{REPOSITORY}/issues/{issue}"
        one, comments = box.web.get(url).json(), box.web.get(f"{url}/comments?per_page=100").json()
        label = one["labels"][0]["name"]
        return Kept(one["state"], label, one["title"], one["body"], [each["body"] for each in comments])

    return Subject(GitHubTracker(f"{box.url}/tracker", REPOSITORY, "token-of-the-sandbox"), kept)


@pytest.fixture
def label() -> str:
    """Return a label that no other test has."""
    return f"degraded-{uuid4().hex}"


async def test_nothing_is_open(subject: Subject, label: str) -> None:
    """Without an issue of the label nothing is found."""
    assert await subject.tracker.find_open(label) is None


@pytest.mark.parametrize("text", TEXTS)
async def test_an_issue_is_kept_as_given(subject: Subject, label: str, text: str) -> None:
    """An opened issue has its label, title and text, whatever its letters, and is open."""
    issue = await subject.tracker.open(label, text[:200], text)
    assert subject.kept(issue.id) == Kept("open", label, text[:200], text, [])


async def test_an_open_issue_is_found(subject: Subject, label: str) -> None:
    """An issue is found by its label under the id and address that its opening gave."""
    issue = await subject.tracker.open(label, "t", "b")
    assert await subject.tracker.find_open(label) == issue
    assert await subject.tracker.find_open(f"{label}-other") is None


async def test_the_oldest_is_found(subject: Subject, label: str) -> None:
    """Of several open issues the oldest is found; once it is closed, the next."""
    first, second = [await subject.tracker.open(label, "t", "b") for _ in range(2)]
    assert first.id != second.id
    assert await subject.tracker.find_open(label) == first
    await subject.tracker.close(first, "done")
    assert await subject.tracker.find_open(label) == second


@pytest.mark.parametrize("text", TEXTS)
async def test_comments_in_order(subject: Subject, label: str, text: str) -> None:
    """Comments are kept as given, in the order in which they were made."""
    issue = await subject.tracker.open(label, "t", "b")
    await subject.tracker.comment(issue, text)
    await subject.tracker.comment(issue, "second")
    assert subject.kept(issue.id).comments == [text, "second"]


async def test_closing(subject: Subject, label: str) -> None:
    """A closed issue has the closing comment, and is not found any more."""
    issue = await subject.tracker.open(label, "t", "b")
    await subject.tracker.close(issue, "well again")
    assert subject.kept(issue.id) == Kept("closed", label, "t", "b", ["well again"])
    assert await subject.tracker.find_open(label) is None


async def test_closing_what_is_closed(subject: Subject, label: str) -> None:
    """Closing a closed issue is no error."""
    issue = await subject.tracker.open(label, "t", "b")
    for _ in range(2):
        await subject.tracker.close(issue, "well again")
    assert subject.kept(issue.id).state == "closed"


async def test_an_id_is_given_once(subject: Subject, label: str) -> None:
    """An issue opened after another was closed has an id of its own."""
    issue = await subject.tracker.open(label, "t", "b")
    await subject.tracker.close(issue, "well again")
    assert (await subject.tracker.open(label, "t", "b")).id != issue.id


async def test_an_issue_that_is_not_there(subject: Subject) -> None:
    """Commenting on or closing an issue that is not there is an error."""
    gone = Issue("999999")
    with pytest.raises(TrackerFailed):
        await subject.tracker.comment(gone, "b")
    with pytest.raises(TrackerFailed):
        await subject.tracker.close(gone, "b")


async def test_openings_at_once(subject: Subject, label: str) -> None:
    """Issues opened at the same moment are all kept."""
    issues = await asyncio.gather(*(subject.tracker.open(label, str(each), "b") for each in range(5)))
    assert {subject.kept(issue.id).title for issue in issues} == set("01234")
