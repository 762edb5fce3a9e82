"""An issue tracker and a public counter in memory that do as a test tells them: adapters of the ports."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from anyio.lowlevel import checkpoint

from orrery.errors import OrreryError
from orrery.ports.clock import Clock
from orrery.ports.counter import PublicCount, Scope
from orrery.ports.tracker import Issue, TrackerFailed

LOST = TrackerFailed("The answer was lost.")


@dataclass(slots=True)
class Kept:
    """One issue of the tracker."""

    id: str
    label: str
    title: str
    body: str
    is_open: bool = True
    comments: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class MemoryTracker:
    """Keeps issues. Every call lets other tasks run first.

    `troubles` are raised one a call, before anything is done; with `lose_answers` the next such many changes are
    made and then fail; with `hangs` nothing is answered, with `lags` closed
    issues are still listed. `most_open` is how many were open at once.
    """

    issues: list[Kept] = field(default_factory=list[Kept])
    troubles: list[OrreryError] = field(default_factory=list[OrreryError])
    lose_answers: int = 0
    most_open: int = 0
    hangs: bool = False
    lags: bool = False
    calls: list[str] = field(default_factory=list[str])

    async def find_open(self, label: str) -> Issue | None:
        """Return the oldest open issue with the label."""
        await self._asked("find")
        listed = self.issues if self.lags else self.open_issues
        return next((self._issue(one) for one in listed if one.label == label), None)

    async def open(self, label: str, title: str, body: str) -> Issue:
        """Open an issue."""
        await self._asked("open")
        self.issues.append(Kept(str(len(self.issues) + 1), label, title, body))
        self.most_open = max(self.most_open, len(self.open_issues))
        self._lose()
        return self._issue(self.issues[-1])

    async def comment(self, issue: Issue, body: str) -> None:
        """Add a comment."""
        await self._asked("comment")
        self._kept(issue).comments.append(body)
        self._lose()

    async def close(self, issue: Issue, body: str) -> None:
        """Comment and close."""
        await self._asked("close")
        self._kept(issue).comments.append(body)
        self._kept(issue).is_open = False
        self._lose()

    @property
    def open_issues(self) -> list[Kept]:
        """The issues that are open."""
        return [one for one in self.issues if one.is_open]

    async def _asked(self, call: str) -> None:
        self.calls.append(call)
        await checkpoint()
        if self.hangs:
            await asyncio.Event().wait()
        if self.troubles:
            raise self.troubles.pop(0)

    def _lose(self) -> None:
        if self.lose_answers:
            self.lose_answers -= 1
            raise LOST

    def _kept(self, issue: Issue) -> Kept:
        for one in self.issues:
            if one.id == issue.id:
                return one
        raise TrackerFailed("There is no such issue.")

    def _issue(self, kept: Kept) -> Issue:
        return Issue(kept.id, f"https://tracker.example.org/{kept.id}")


@dataclass(slots=True)
class ScriptedCounter:
    """Public reads that are well, unless a test says otherwise: not `well`, with an `error`, or `old`."""

    clock: Clock
    well: bool = True
    error: str | None = None
    old: timedelta = timedelta(0)

    async def read(self, scope: Scope) -> PublicCount | None:
        """Return what the endpoint says now."""
        del scope
        await checkpoint()
        if not self.well:
            return None
        if self.error:
            return PublicCount(0, None, None, stale=True, error=self.error)
        generated_at = self.clock.now() - self.old
        return PublicCount(5, generated_at, self.old.total_seconds(), stale=False, error=None)
