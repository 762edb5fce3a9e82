"""The order of the list (decision 57, issue of the order of time). Pure.

1. The meetings of the day of the next one: the soonest start first, those of a whole day behind the others.
2. What has a due date: the soonest first, whatever is overdue ahead of it.
3. Everything else: the newest first.
4. The meetings of later days: the soonest start first.

A priority is a mark. It decides only between two that are equal in time: a sender's word alone moves nothing up.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby

from orrery.cockpit.rows import CockpitRow, newest_first
from orrery.cockpit.waiting import midnight_after


def in_order(rows: Iterable[CockpitRow], now: datetime) -> Iterator[CockpitRow]:
    """Yield rows in the order of the list; days are those of this machine's calendar."""
    meetings, due, others = list[CockpitRow](), list[CockpitRow](), list[CockpitRow]()
    for row in rows:
        kind = meetings if row.message.source == "meeting" else due if row.until else others
        kind.append(row)
    meetings.sort(key=lambda row: (_counts(row, now), *_among_equals(row)))
    end = midnight_after(min(_begins(row, now) for row in meetings)) if meetings else now
    yield from (row for row in meetings if _begins(row, now) < end)
    yield from sorted(due, key=lambda row: (row.until or now.date(), *_among_equals(row)))
    # Of these there may be 50,000: a rank for each would take 6 MB, and they come nearly in order.
    for _, same in groupby(newest_first(others), key=lambda row: row.message.received_at):
        yield from sorted(same, key=_among_equals)
    yield from (row for row in meetings if _begins(row, now) >= end)


def _among_equals(row: CockpitRow) -> tuple[int, str]:
    """Return the rank among rows of the same time."""
    return -row.score, row.message.source_id


def _begins(row: CockpitRow, now: datetime) -> datetime:
    """Return when a meeting begins; one of several days that is under way counts as one of today."""
    begins = row.message.received_at
    return max(begins, now) if row.message.is_all_day else begins


def _counts(row: CockpitRow, now: datetime) -> datetime:
    """Return the moment by which meetings are ordered: those of a whole day come after the others of it."""
    begins = _begins(row, now)
    return midnight_after(begins) if row.message.is_all_day else begins
