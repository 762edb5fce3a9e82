"""What the owner's page shows: panels of figures and rows, whatever domain they come from."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Tone = Literal["good", "attention", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of the page: a headline figure in words, a tone, and perhaps a table. No personal data.

    `todo` says what to do or type; `columns` head the `rows`, whose cells are text. A moment in any of these texts
    is written by `moment`, and a command between backticks: the page shows them as such. What is `bad` or worth
    `attention` wants the owner; `plain` is a part that is not in use, or a figure that is neither well nor ill.
    """

    title: str
    headline: str
    tone: Tone = "plain"
    todo: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def utc_text(at: datetime) -> str:
    """Return a time as the texts of a panel hold it: `2026-11-21T12:00:00Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
