"""Meetings between two times."""

from datetime import datetime, timedelta

import httpx2

from tests.sandbox.graph.reading import Item, refused
from tests.support.graph import GraphBox

ANN = "ann@corp.example"


def view(web: httpx2.Client, since: datetime, days: int, **headers: str) -> list[Item]:
    """Return the meetings of some days."""
    window = {"startDateTime": since.isoformat(), "endDateTime": (since + timedelta(days=days)).isoformat()}
    answer = web.get("/me/calendarView", params=window | {"$top": "100"}, headers=headers)
    assert answer.is_success, answer.text
    return answer.json()["value"]


def named(found: list[Item], subject: str) -> Item:
    """Return the one meeting with a subject."""
    [one] = [one for one in found if one["subject"] == subject]
    return one


def test_times_are_those_of_the_preferred_zone(box: GraphBox, ann: httpx2.Client) -> None:
    """Of Windows or of IANA; without one in UTC. A whole day begins at midnight in each."""
    since = box.clock.now() - timedelta(days=1)
    plain = view(ann, since, 10)
    berlin = view(ann, since, 10, Prefer='outlook.timezone="W. Europe Standard Time"')
    tokyo = view(ann, since, 10, Prefer='outlook.timezone="Asia/Tokyo"')
    zones = [named(one, "Call with the museum")["start"] for one in (plain, berlin, tokyo)]
    assert [one["timeZone"] for one in zones] == ["UTC", "W. Europe Standard Time", "Asia/Tokyo"]
    assert zones[1]["dateTime"][11:] == "15:00:00.0000000"
    assert len({one["dateTime"] for one in zones}) == 3
    for found in (plain, berlin, tokyo):
        assert named(found, "Company day")["start"]["dateTime"].endswith("T00:00:00.0000000")


def test_a_series_keeps_its_hour_over_a_change_of_clocks(box: GraphBox, ann: httpx2.Client) -> None:
    """By the clocks of its zone; in UTC it is an hour later or earlier."""
    box.lever(
        "meeting", ANN, subject="Weekly", start="2027-03-21T09:00:00", zone="Europe/Berlin", every_days=7, times=2
    )
    found = view(ann, datetime.fromisoformat("2027-03-20T00:00:00+00:00"), 14)
    starts = [one["start"]["dateTime"] for one in found if one["subject"] == "Weekly"]
    assert starts == ["2027-03-21T08:00:00.0000000", "2027-03-28T07:00:00.0000000"]


def test_one_meeting(box: GraphBox, ann: httpx2.Client) -> None:
    """By its id, with its text where Calendars.Read was granted; a basic reader sees none."""
    found = view(ann, box.clock.now() - timedelta(days=1), 7)
    path = f"/me/events/{named(found, 'Call with the museum')['id']}"
    assert "body" not in ann.get(path).json()
    with box.client(ANN, "Calendars.Read") as web:
        assert "side door" in web.get(path).json()["body"]["content"]
    assert refused(ann.get(path, params={"$select": "body"})) == (403, "ErrorAccessDenied")
    assert refused(ann.get("/me/events/AAMkADNkYjVhNWYxLTQ1AAAAAAAA=")) == (404, "ErrorItemNotFound")
