"""What is read for a story may be written by anybody: it ends no command, and steers no terminal."""

import json
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from orrery.errors import Invalid
from orrery.gateway.cloud.ping_file import read_pings
from orrery.gateway.timeline.events import TimelineEvent
from orrery.gateway.timeline.journal import read_journal
from orrery.gateway.timeline.outages import outages
from orrery.gateway.timeline.picture import svg
from orrery.gateway.timeline.pings import ping_events
from tests.support.tables import each_case

BEGAN = datetime(2026, 11, 23, 3, 0, tzinfo=UTC)
DEEP = "[" * 200_000


def line(at: datetime, message: str) -> str:
    stamp = str(int(at.timestamp()) * 1_000_000)
    return json.dumps({"__REALTIME_TIMESTAMP": stamp, "SYSLOG_IDENTIFIER": "gateway-recover", "MESSAGE": message})


def test_lines_that_cannot_be_are_counted() -> None:
    """A line that is nested without an end, and times that no clock shows."""
    lines = [DEEP, line(datetime(9999, 12, 31, tzinfo=UTC), "x"), line(datetime(1000, 1, 1, tzinfo=UTC), "x")]
    found = read_journal(lines, "gateway.service", "gateway-recover")
    assert (found.events, found.unreadable) == ((), 3)


def test_pings_that_cannot_be_are_counted() -> None:
    """The same of what the site's host printed."""
    with pytest.raises(Invalid):
        read_pings(DEEP)
    at = "9999-12-31T23:59:59-10:00"
    found = read_pings(json.dumps({"stretches": [{"state": "failed", "first_at": at, "last_at": at}]}))
    assert (found.stretches, found.unreadable) == ([], 1)


def test_times_of_another_zone_are_told_in_utc() -> None:
    """An outage's id is in UTC, whatever zone its source counts in."""
    stretches = [
        {"state": "failed", "first_at": "2026-11-23T05:00:00+02:00", "last_at": "2026-11-23T05:10:00+02:00"},
        {"state": "active", "first_at": "2026-11-23T05:15:00+02:00", "last_at": "2026-11-23T05:20:00+02:00"},
    ]
    (one,) = outages(ping_events(read_pings(json.dumps({"stretches": stretches}))))
    assert (one.id, f"{one.events[0].at:%H:%M}") == ("20261123T030000Z", "03:00")


@each_case("text", ["\ud800", "\x00\x1b[31m", "<script>&", "]]>", "\ufffe"])
def test_a_picture_stays_one(text: str) -> None:
    """Whatever a message holds, the picture is well-formed, and is text."""
    (guest,) = read_journal(
        [line(BEGAN + timedelta(seconds=1), text)], "gateway.service", "gateway-recover"
    ).events
    events = [
        TimelineEvent(BEGAN, "machine", "down", "Down."),
        guest,
        TimelineEvent(BEGAN + timedelta(seconds=2), "push", "noted", f"Push: {text}"),
        TimelineEvent(BEGAN + timedelta(seconds=60), "machine", "up", "Up."),
    ]
    (one,) = outages(events)
    assert ET.fromstring(svg(one).encode()).tag.endswith("svg")  # noqa: S314  our own text


def test_each_outage_has_the_events_near_it() -> None:
    """A quarter of a year of flapping: thousands of outages, each with its own few events."""
    events = list[TimelineEvent]()
    for number in range(8000):
        began = BEGAN + timedelta(minutes=15 * number)
        events.append(TimelineEvent(began, "machine", "down", ""))
        events.append(TimelineEvent(began + timedelta(minutes=5), "machine", "up", ""))
    found = outages(events)
    assert len(found) == 8000
    assert {len(one.events) for one in found} == {2}
