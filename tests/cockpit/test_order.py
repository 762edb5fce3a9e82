"""The order of the list: a table of rows as they should stand (decision 57)."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from orrery.cockpit.order import in_order
from orrery.cockpit.rows import CockpitRow, row_of
from orrery.ports.comms.messages import MailboxMessage, Priority, Source
from tests.support.mailboxes import a_message

pytestmark = pytest.mark.usefixtures("zone")

TOKYO = timezone(timedelta(hours=9))


def local(day: int, hour: int = 0, minute: int = 0) -> datetime:
    """Return a moment of March 2026 by the clocks of this machine."""
    return datetime(2026, 3, day, hour, minute).astimezone()


NOW = (2, 12, 0)


def row(
    name: str,
    source: Source = "mail",
    at: datetime | None = None,
    *,
    until: date | None = None,
    priority: Priority = "normal",
    is_all_day: bool = False,
) -> CockpitRow:
    """Return a row that is named so; the scores are those of its priority."""
    message: MailboxMessage = replace(
        a_message(1, source, priority, name), received_at=at or local(*NOW), is_all_day=is_all_day
    )
    return row_of("A", "ann@corp.example", message, {"high": 80, "normal": 50, "low": 20}[priority], until)


def names(rows: list[CockpitRow]) -> list[str]:
    """Return the names of rows in the order of the list."""
    return [one.id.source_id for one in in_order(rows, local(*NOW))]


def expect(*rows: CockpitRow) -> None:
    """Expect rows to be in this order, however they came."""
    wanted = [one.id.source_id for one in rows]
    for seed in range(10):
        assert names(random.Random(seed).sample(rows, len(rows))) == wanted  # noqa: S311  no secret depends on it


def test_the_order_of_everything() -> None:
    """The meetings of the next day that has one, what is due, the newest of the rest, and later meetings."""
    expect(
        row("under way", "meeting", local(2, 11, 30)),
        row("this evening", "meeting", local(2, 23, 59), priority="low"),
        row("overdue", "action-hub", until=date(2026, 2, 1)),
        row("due today", "action-hub", until=date(2026, 3, 2), priority="low"),
        row("due in May", "action-hub", until=date(2026, 5, 2), priority="high"),
        row("new", at=local(2, 11, 59), priority="low"),
        row("a chat", "teams", local(2, 9)),
        row("old and urgent", at=local(1, 9), priority="high"),
        row("tomorrow at midnight", "meeting", local(3, 0, 0)),
        row("next week", "meeting", local(9, 9), priority="high"),
    )


def test_the_next_meeting_is_first_though_it_is_days_away() -> None:
    """All meetings of its day come first; those behind its midnight do not."""
    expect(
        row("next", "meeting", local(5, 9)),
        row("same day", "meeting", local(5, 23, 59)),
        row("mail"),
        row("behind midnight", "meeting", local(6, 0, 0)),
    )


def test_meetings_of_a_whole_day() -> None:
    """They stand behind those of the same day that have an hour; one that began days ago counts as today's."""
    expect(
        row("at five", "meeting", local(2, 17)),
        row("today", "meeting", local(2), is_all_day=True),
        row("mail"),
        row("tomorrow at nine", "meeting", local(3, 9)),
        row("tomorrow", "meeting", local(3), is_all_day=True),
    )
    expect(
        row("at five", "meeting", local(2, 17)),
        row("conference since Friday", "meeting", datetime(2026, 2, 27).astimezone(), is_all_day=True),
        row("mail"),
    )


def test_moments_of_other_zones() -> None:
    """What counts is the moment, whatever the zone that it is written in."""
    first = local(2, 13)
    expect(
        row("a", "meeting", first.astimezone(TOKYO)),
        row("b", "meeting", (first + timedelta(minutes=1)).astimezone(UTC)),
        row("c", "meeting", first + timedelta(minutes=2)),
    )


def test_equal_times() -> None:
    """The higher priority comes first, then the id: the order is the same each time."""
    at = local(2, 15)
    for several in (
        [row("b", "meeting", at, priority="high"), row("a", "meeting", at), row("c", "meeting", at)],
        [row("b", at=at, priority="high"), row("a", at=at), row("c", at=at, priority="low")],
        [row(name, "action-hub", until=date(2026, 3, 4)) for name in "abc"],
    ):
        expect(*several)


def test_a_priority_alone_moves_nothing_up() -> None:
    """A second younger is enough."""
    at = local(2, 10)
    expect(row("low", at=at + timedelta(seconds=1), priority="low"), row("high", at=at, priority="high"))


def test_nothing_to_order() -> None:
    """An empty list is in order."""
    assert names([]) == []
