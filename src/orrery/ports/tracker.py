"""An issue tracker, as a port: lasting faults are reported, followed and closed there."""

from dataclasses import dataclass
from typing import Protocol

from orrery.errors import OrreryError


class TrackerFailed(OrreryError):
    """The issue tracker could not be asked, or refused; the next check tries again."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An open issue: `id` is the tracker's, `url` is where a person reads it (empty for a local file)."""

    id: str
    url: str = ""


class Tracker(Protocol):
    """Opens, comments on and closes issues. Every method raises `TrackerFailed` or `NotConfigured`."""

    async def find_open(self, label: str) -> Issue | None:
        """Return the oldest open issue with `label`, or None."""
        ...

    async def open(self, label: str, title: str, body: str) -> Issue: ...

    async def comment(self, issue: Issue, body: str) -> None: ...

    async def close(self, issue: Issue, body: str) -> None:
        """Add a closing comment and close; closing what is closed is no error."""
        ...
