"""The made-up items of the action ledger that `orrery cockpit --sample` shows beside its mailboxes."""

from collections.abc import Sequence
from datetime import date, timedelta

from orrery.cockpit.ledger import NewItem
from orrery.ports.comms.messages import Priority
from orrery.syntax.track import Track

_ITEMS: tuple[tuple[Track, str, str, int | None, Priority], ...] = (
    ("A", "Sign the renewal of the test machines", "Mara Quell", -1, "high"),
    ("B", "Answer the reviewers of the networking lab", "cy@lab.example", 0, "normal"),
    ("A", "Name a second reader for the audit", "Ivo Brandt", 2, "normal"),
    ("B", "Record the missing part of lab 9", "", 5, "normal"),
    ("B", "Thank the people who translated the glossary", "Noor Adel", None, "low"),
)
"""Track, title, from whom, until how many days from today, priority."""


def sample_items(today: date) -> Sequence[NewItem]:
    """Return the items; one of them is overdue."""
    return [
        NewItem(track, title, person, None if days is None else today + timedelta(days=days), priority)
        for track, title, person, days, priority in _ITEMS
    ]
