"""The panels of the owner's page, with figures and rows, for all domains."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Tone = Literal["good", "attention", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to a page elsewhere."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Button:
    """A cell that puts a problem aside, as its `extent` was shown, or brings it back, by its key."""

    text: str
    does: Literal["aside", "back"]
    key: str
    extent: str = ""


Cell = str | Link | Button


@dataclass(frozen=True, slots=True)
class Takings:
    """What one currency brought: by period its name, what is kept, and the text beside it.

    `days` is what is kept of each day, the last one at the end, for a line; `in_words` describes that line.
    """

    currency: str
    periods: tuple[tuple[str, str, str], ...]
    days: tuple[int, ...]
    in_words: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of the page: a headline, a tone, and perhaps figures or a table.

    Of a person it shows a masked address at most. `todo` is what to do or type; `columns` are the heads of the
    `rows`, whose cells are text, links or buttons. A time in any of these texts is written by `utc_text`, and a
    command between backticks: the page formats both. A panel with the tone `bad` or `attention` needs attention,
    in `count` things; `aside` are acknowledged. `plain` is a part that is not in use, or a figure that is neither
    good nor bad. `in_full` is how many rows the folded page shows whole; each other one has a line.
    """

    title: str
    headline: str
    tone: Tone = "plain"
    todo: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    takings: tuple[Takings, ...] = ()
    count: int = 1
    aside: int = 0
    in_full: int | None = None


@dataclass(frozen=True, slots=True)
class PanelSource:
    """One part of the page: its title, which is known even when its panel cannot be read.

    Panels that lead keep their place at the top, whatever is wrong. Among equally urgent ones those of a lower
    `order` come first. The panel is None while there is nothing to show. `parts` are its parts, or with a space or
    a colon at the end the beginnings of their names; without any, the tone is its own: what waits is not broken.
    """

    title: str
    panel: Callable[[], Awaitable[Panel | None]]
    order: int = 50
    parts: tuple[str, ...] = ()
    leads: bool = False


def utc_text(at: datetime) -> str:
    """Return a time as the texts of a panel hold it: `2026-11-21T12:00:00Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
