"""Issues in one local JSON file that a person can read: the tracker when there is no other (decision 29)."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError

from orrery.durable import hold, replace
from orrery.errors import words_of
from orrery.ports.clock import Clock
from orrery.ports.tracker import Issue, TrackerFailed
from orrery.record import Record, RecordPart

T = TypeVar("T")


class _Comment(RecordPart):
    at: AwareDatetime
    text: str


class _Issue(RecordPart):
    model_config = ConfigDict(frozen=False)

    id: str
    state: Literal["open", "closed"] = "open"
    labels: list[str]
    title: str
    opened_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    text: str
    comments: list[_Comment] = Field(default_factory=list[_Comment])

    def to_value(self) -> Issue:
        return Issue(self.id)


class _File(Record):
    """The content of the file, the oldest issue first."""

    model_config = ConfigDict(frozen=False)

    issues: list[_Issue] = Field(default_factory=list[_Issue])

    def next_number(self) -> str:
        """Return a number that no issue has, also after a person took some out."""
        return str(max((int(one.id) for one in self.issues if one.id.isdecimal()), default=0) + 1)

    def find(self, issue: Issue) -> _Issue:
        for one in self.issues:
            if one.id == issue.id:
                return one
        raise TrackerFailed(f"The issue file has no issue {issue.id}.")


class FileTracker:
    """Keeps issues in the file at `path`, which is created with the first issue; a lock file is beside it.

    The file is replaced as a whole, so that a kill leaves the old or the new one. A file that cannot be read is
    never overwritten. Every method raises `TrackerFailed`.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock

    async def find_open(self, label: str) -> Issue | None:
        """Return the oldest open issue with `label`."""
        file = await asyncio.to_thread(self._guarded, self._load)
        return next((one.to_value() for one in file.issues if one.state == "open" and label in one.labels), None)

    async def open(self, label: str, title: str, body: str) -> Issue:
        """Open an issue with `label`; its number is the next."""

        def change(file: _File) -> Issue:
            number = file.next_number()
            now = self._clock.now()
            file.issues.append(_Issue(id=number, labels=[label], title=title, opened_at=now, text=body))
            return Issue(number)

        return await self._changed(change)

    async def comment(self, issue: Issue, body: str) -> None:
        await self._changed(lambda file: self._add_comment(file.find(issue), body))

    async def close(self, issue: Issue, body: str) -> None:
        """Add a closing comment and close."""

        def change(file: _File) -> None:
            found = file.find(issue)
            self._add_comment(found, body)
            found.closed_at = found.closed_at or self._clock.now()
            found.state = "closed"

        await self._changed(change)

    def _add_comment(self, found: _Issue, body: str) -> None:
        found.comments = [*found.comments, _Comment(at=self._clock.now(), text=body)]

    async def _changed(self, change: Callable[[_File], T]) -> T:
        def work() -> T:
            with self._locked():
                file = self._load()
                result = change(file)
                replace(self._path, file.model_dump_json(indent=2).encode() + b"\n", 0o644)
                return result

        return await asyncio.to_thread(self._guarded, work)

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except BlockingIOError:
            raise TrackerFailed("Another process holds the issue file.") from None
        except OSError as error:
            raise TrackerFailed(f"The issue file cannot be used: {words_of(error)}.") from None

    def _load(self) -> _File:
        try:
            return _File.from_bytes(self._path.read_bytes())
        except FileNotFoundError:
            return _File()
        except ValidationError:
            raise TrackerFailed(f"The issue file {self._path.name} is damaged: fix it, or move it away.") from None

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock, which ends with the process however that ends."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_name(f"{self._path.name}.lock").open("a") as held:
            hold(held.fileno())
            yield
