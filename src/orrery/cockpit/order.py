"""The order of the list (decision 57, issue of the order of time). Pure.

1. The meetings of the day of the next one: the soonest start first, those of a whole day behind the others.
2. What has a due date: the soonest first, whatever is overdue ahead of it.
3. Everything else: the newest first.
4. The meetings of later days: the soonest start first.

A priority is a mark. It decides only between two that are equal in time: a sender's word alone moves nothing up.
"""

from collections.abc import Iterable
from datetime import datetime

from orrery.cockpit.rows import Row
from orrery.cockpit.waiting import midnight_after

Rank = tuple[int, float, int, str]


def in_order(rows: Iterable[Row], now: datetime) -> list[Row]:
    """Return rows in the order of the list; days are those of this machine's calendar."""
    known = [*rows]
    starts = [_begins(row, now) for row in known if row.message.source == "meeting"]
    end = midnight_after(min(starts)) if starts else now
    return sorted(known, key=lambda row: _rank(row, end, now))


def _rank(row: Row, end: datetime, now: datetime) -> Rank:
    """Return a row's rank; `end` is that of the next meeting's day."""
    if row.message.source == "meeting":
        begins = _begins(row, now)
        band = 0 if begins < end else 3
        counts = midnight_after(begins) if row.message.is_all_day else begins
        return band, counts.timestamp(), -row.score, row.message.source_id
    if row.until:
        return 1, row.until.toordinal(), -row.score, row.message.source_id
    return 2, -row.message.received_at.timestamp(), -row.score, row.message.source_id


def _begins(row: Row, now: datetime) -> datetime:
    """Return when a meeting begins; one of several days that is under way counts as one of today."""
    begins = row.message.received_at
    return max(begins, now) if row.message.is_all_day else begins
