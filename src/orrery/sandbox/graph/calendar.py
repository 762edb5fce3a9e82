"""The calendar: every meeting between two times, those of a series one by one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from orrery.sandbox.graph.call import GraphCall, page, refusal, selected
from orrery.sandbox.graph.ids import digest, guid, item_id
from orrery.sandbox.graph.mailbox import Mailboxes
from orrery.sandbox.graph.messages import BODY_PROPERTIES, doctored, recipient, utc
from orrery.sandbox.graph.seed import first_events
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import GRAPH

_SERIES = 1 << 16


def view(call: GraphCall) -> Document:
    """List what overlaps a time window; series come after single meetings unless an order is asked for."""
    account = call.mailbox.account
    since, until = _window(call)
    found = [one for one in _meetings(call) if one["begins"] < until and one["ends"] > since]
    if call.query.get("$orderby"):
        found.sort(key=lambda one: one["begins"])
    return page(call, f"users('{account}')/calendarView", found, lambda one: _readable(one, call))


def event(call: GraphCall) -> Document:
    """Return one meeting, or one of a series, by its id."""
    found = next((one for one in _meetings(call) if _id(one, call) == call.ids[0]), None)
    if found is None:
        raise refusal("item_not_found")
    context = f"{GRAPH}/v1.0/$metadata#users('{call.account}')/events/$entity"
    return {"@odata.context": context, **_readable(found, call)}


def _readable(one: Document, call: GraphCall) -> Document:
    """Return what is asked for; refuse the text where the scopes do not let the caller read it."""
    names, shown = call.names("$select"), _shown(one, call)
    if not call.may("Calendars.Read", "Calendars.ReadWrite"):
        if BODY_PROPERTIES & set(names):
            raise refusal("access_denied")
        shown = {name: value for name, value in shown.items() if name not in BODY_PROPERTIES}
    return selected(shown, names)


def events_of(world: Mailboxes, account: str) -> list[Document]:
    """Return the events of an account, a series as one."""
    return world.kept("events", account, lambda: first_events(account, world.mailbox(account).opened))


def add_event(world: Mailboxes, account: str, values: Document) -> None:
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


def _meetings(call: GraphCall) -> Iterator[Document]:
    """Yield the meetings, those of a series one by one, each with `kind`, `place`, `begins` and `ends`.

    Each is at the hour that the clocks of its zone show. One of a series may differ from the others.
    """
    for event in events_of(call.world, call.mailbox.account):
        zone, every = ZoneInfo("UTC" if event.get("all_day") else event["zone"]), event.get("every_days")
        begin, length = datetime.fromisoformat(event["start"]), timedelta(minutes=event["minutes"])
        for place in range(event.get("times", _MOST) if every else 1):
            other: Document = event.get("exceptions", {}).get(str(place), {})
            kind = ("exception" if other else "occurrence") if every else "singleInstance"
            start = begin + timedelta(days=(every or 0) * place, minutes=other.get("later", 0))
            times = {"begins": start.replace(tzinfo=zone), "ends": (start + length).replace(tzinfo=zone)}
            yield event | other | times | {"kind": kind, "place": place}


_MOST = 100
"""Meetings of a series that has no end."""


def _id(one: Document, call: GraphCall) -> str:
    number = one["number"] * _SERIES + (0 if one["kind"] == "singleInstance" else one["place"] + 1)
    return item_id(f"{call.account} events", number, 0, immutable=call.immutable)


def _shown(one: Document, call: GraphCall) -> Document:
    shown, change = _id(one, call), digest("event", one)
    master = item_id(f"{call.account} events", one["number"] * _SERIES, 0, immutable=call.immutable)
    known: Document = {
        "@odata.etag": f'W/"{change}"',
        "id": shown,
        "createdDateTime": utc(one["created"]),
        "lastModifiedDateTime": utc(one["created"]),
        "changeKey": change,
        "categories": [],
        "iCalUId": guid("ical", call.account, one["number"]),
        "importance": "normal",
        "sensitivity": "normal",
        "type": one["kind"],
        "seriesMasterId": None if one["kind"] == "singleInstance" else master,
        "recurrence": None,
        "isDraft": False,
        "hasAttachments": False,
        "hideAttendees": False,
        "webLink": f"https://outlook.example/owa/?itemid={shown}&exvsurl=1&path=/calendar/item",
    }
    return doctored(known | _times(one) | _people(one, call.account) | _online(one) | _text(one), one)


def _times(one: Document) -> Document:
    """Return when it is, in UTC, the only time zone that is asked for; a whole day begins at midnight."""
    whole_day = bool(one.get("all_day"))
    start, end = (f"{one[name].astimezone(UTC):%Y-%m-%dT%H:%M:%S}.0000000" for name in ("begins", "ends"))
    return {
        "isAllDay": whole_day,
        "isCancelled": bool(one.get("cancelled")),
        "start": {"dateTime": start, "timeZone": "UTC"},
        "end": {"dateTime": end, "timeZone": "UTC"},
        "originalStartTimeZone": one["zone"],
        "originalEndTimeZone": one["zone"],
        "isReminderOn": not whole_day,
        "reminderMinutesBeforeStart": 15,
        "showAs": one.get("show_as", "busy"),
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
    body = {"contentType": "html", "content": f"<html><body>{event['text']}</body></html>"}
    return {"subject": event["subject"], "bodyPreview": event["text"], "body": body}
