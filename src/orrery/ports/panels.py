"""What the owner's page shows: panels of figures and rows, whatever domain they come from."""

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "attention", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of the page: a headline figure in words, a tone, and perhaps a table. No personal data.

    `todo` says what to do or type; `columns` head the `rows`, whose cells are text.
    """

    title: str
    headline: str
    tone: Tone = "plain"
    todo: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
