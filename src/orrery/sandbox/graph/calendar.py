"""The calendar: every meeting between two times, those of a series one by one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from orrery.sandbox.graph.call import GraphCall, page, refusal, selected
from orrery.sandbox.graph.ids import digest, guid, item_id
from orrery.sandbox.graph.mailbox import Mailboxes
from orrery.sandbox.graph.messages import BODY_PROPERTIES, doctored, recipient, utc
from orrery.sandbox.graph.seed import first_events
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import GRAPH

_SERIES = 1 << 16
_FAR = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One meeting at its time: a single one, or that of a series on a day, which may differ from the others."""

    event: Document
    kind: str
    place: int
    start: datetime
    end: datetime


def view(call: GraphCall) -> Document:
    """List what overlaps a time window; series come after single meetings unless an order is asked for."""
    account = call.mailbox.account
    since, until = _window(call)
    events = (one for event in events_of(call.world, account) for one in _occurrences(event, until))
    found = [one for one in events if one.start < until and one.end > since]
    if call.query.get("$orderby"):
        found.sort(key=lambda one: one.start)
    context = f"users('{account}')/calendarView"
    return page(call, context, found, lambda one: _readable(_shown(account, one, call), call))


def event(call: GraphCall) -> Document:
    """Return one meeting, or one of a series, by its id."""
    account, far = call.mailbox.account, call.world.ground.clock.now() + _FAR
    for known in events_of(call.world, account):
        for shown in (_shown(account, one, call) for one in _occurrences(known, far)):
            if shown["id"] == call.ids[0]:
                context = f"{GRAPH}/v1.0/$metadata#users('{account}')/events/$entity"
                return {"@odata.context": context, **_readable(shown, call)}
    raise refusal("item_not_found")


def _readable(shown: Document, call: GraphCall) -> Document:
    """Return what is asked for; refuse the text where the scopes do not let the caller read it."""
    names = call.names("$select")
    if call.may("Calendars.Read", "Calendars.ReadWrite"):
        return selected(shown, names)
    if BODY_PROPERTIES & set(names):
        raise refusal("access_denied")
    return selected({name: value for name, value in shown.items() if name not in BODY_PROPERTIES}, names)


def events_of(world: Mailboxes, account: str) -> list[Document]:
    """Return the events of an account, a series as one."""
    return world.kept("events", account, lambda: first_events(account, world.mailbox(account).opened))


def add_event(world: Mailboxes, account: str, **values: Any) -> None:  # noqa: ANN401  fields of an event
    """Add an event; one that has the subject of another takes its place."""
    known = events_of(world, account)
    number = max((one["number"] for one in known), default=0) + 1
    known[:] = [one for one in known if one["subject"] != values["subject"]] + [values | {"number": number}]


def _window(call: GraphCall) -> tuple[datetime, datetime]:
    """Return the two times of the query, whose names may have any capitals; in UTC without an offset."""
    query = {name.lower(): value for name, value in call.query.items()}
    since, until = (datetime.fromisoformat(query[name]) for name in ("startdatetime", "enddatetime"))
    since, until = (one if one.tzinfo is not None else one.replace(tzinfo=UTC) for one in (since, until))
    if until < since:
        raise refusal("bad_argument", "The end of the time window is before its start.")
    return since, until


def _occurrences(event: Document, until: datetime) -> Iterator[Occurrence]:
    """Yield an event's meetings until a time, each at the hour that the clocks of its zone show."""
    begin, zone = datetime.fromisoformat(event["start"]), ZoneInfo(event["zone"])
    length, every = timedelta(minutes=event["minutes"]), event.get("every_days")
    if not every:
        yield _occurrence(event, "singleInstance", 0, begin, length, zone)
        return
    for place in range(event.get("times", 500)):
        start = begin + timedelta(days=every * place)
        if start.replace(tzinfo=zone) >= until + timedelta(days=1):
            return
        other: Document = event.get("exceptions", {}).get(str(place), {})
        kind = "exception" if other else "occurrence"
        moved = start + timedelta(minutes=other.get("later", 0))
        yield _occurrence(event | other, kind, place, moved, length, zone)


def _occurrence(
    event: Document, kind: str, place: int, start: datetime, length: timedelta, zone: ZoneInfo
) -> Occurrence:
    end = start + length
    own = ZoneInfo("UTC") if event.get("all_day") else zone
    return Occurrence(event, kind, place, start.replace(tzinfo=own), end.replace(tzinfo=own))


def _shown(account: str, one: Occurrence, call: GraphCall) -> Document:
    event = one.event
    is_single = one.kind == "singleInstance"
    number = event["number"] * _SERIES + (0 if is_single else one.place + 1)
    master = item_id(f"{account} events", event["number"] * _SERIES, 0, immutable=call.immutable)
    shown = item_id(f"{account} events", number, 0, immutable=call.immutable)
    known = _times(one) | _people(event, account) | _online(event) | _text(event)
    return doctored(
        {
            "@odata.etag": f'W/"{digest("event", event)}"',
            "id": shown,
            "createdDateTime": utc(event["created"]),
            "lastModifiedDateTime": utc(event["created"]),
            "changeKey": digest("event", event),
            "categories": [],
            "iCalUId": guid("ical", account, event["number"]),
            "importance": "normal",
            "sensitivity": "normal",
            "type": one.kind,
            "seriesMasterId": None if is_single else master,
            "recurrence": None,
            "isDraft": False,
            "hasAttachments": False,
            "hideAttendees": False,
            "webLink": f"https://outlook.example/owa/?itemid={shown}&exvsurl=1&path=/calendar/item",
            **known,
        },
        event,
    )


def _times(one: Occurrence) -> Document:
    """Return when it is, in UTC, the only time zone that is asked for; a whole day begins at midnight."""
    whole_day = bool(one.event.get("all_day"))
    start, end = (f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.0000000" for time in (one.start, one.end))
    return {
        "isAllDay": whole_day,
        "isCancelled": bool(one.event.get("cancelled")),
        "start": {"dateTime": start, "timeZone": "UTC"},
        "end": {"dateTime": end, "timeZone": "UTC"},
        "originalStartTimeZone": one.event["zone"],
        "originalEndTimeZone": one.event["zone"],
        "isReminderOn": not whole_day,
        "reminderMinutesBeforeStart": 15,
        "showAs": one.event.get("show_as", "busy"),
    }


def _people(event: Document, account: str) -> Document:
    organizer = event["organizer"]
    is_own = organizer is None
    return {
        "isOrganizer": is_own,
        "responseRequested": True,
        "allowNewTimeProposals": True,
        "organizer": recipient((account, account) if is_own else organizer),
        "responseStatus": {
            "response": "organizer" if is_own else event.get("response", "notResponded"),
            "time": "0001-01-01T00:00:00Z",
        },
        "attendees": [
            {
                "type": "required",
                "status": {"response": "none", "time": "0001-01-01T00:00:00Z"},
                **recipient(one),
            }
            for one in ((account, account), *event.get("others", ()))
        ],
    }


def _online(event: Document) -> Document:
    address = "https://teams.example/l/meetup-join/19%3ameeting_made-up%40thread.v2/0"
    is_online = bool(event.get("online"))
    return {
        "isOnlineMeeting": is_online,
        "onlineMeetingProvider": "teamsForBusiness" if is_online else "unknown",
        "onlineMeetingUrl": None,
        "onlineMeeting": {"joinUrl": address} if is_online else None,
        "location": {"displayName": event.get("location", ""), "locationType": "default"},
    }


def _text(event: Document) -> Document:
    text = event.get("text", "")
    return {
        "subject": event["subject"],
        "bodyPreview": text,
        "body": {"contentType": "html", "content": f"<html><body>{text}</body></html>"},
    }
