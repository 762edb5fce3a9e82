"""The meetings of an account: today's and those of the next days, each occurrence a row."""

from collections.abc import AsyncGenerator, Iterable
from datetime import UTC, date, datetime, time, timedelta

from orrery.adapters.microsoft_mailbox.client import GraphSession
from orrery.adapters.microsoft_mailbox.shapes import (
    Attendee,
    Meeting,
    items_of,
    named,
    next_of,
    person_of,
    priority_of,
    read_all,
)
from orrery.ports.comms.mailboxes import MessageBatch
from orrery.ports.comms.messages import MailboxMessage, Standing

AHEAD = timedelta(days=7)
"""How far ahead meetings are listed."""

_PAGE = 100
_SELECT = (
    "id,subject,start,end,isAllDay,isCancelled,isOrganizer,organizer,attendees,responseStatus,importance,location,"
    "webLink"
)
_ROOM = "resource"
_IN_UTC = 'outlook.timezone="UTC"'


async def meeting_batches(
    session: GraphSession, own: frozenset[str], now: datetime
) -> AsyncGenerator[MessageBatch]:
    """Yield the meetings that end today or later, the latest first.

    `own` are the account's addresses, in lower case: an owner's own meeting takes no reply. An all-day meeting
    begins and ends at a midnight of this machine, whatever the calendar's time zone.
    """
    page = await session.get(
        "/me/calendarView",
        {
            "startDateTime": _moment(now - timedelta(days=1)),
            "endDateTime": _moment(now + AHEAD),
            "$select": _SELECT,
            "$orderby": "start/dateTime",
            "$top": str(_PAGE),
        },
        _IN_UTC,
    )
    found, unreadable = list[MailboxMessage](), 0
    while True:
        meetings, wrong = read_all(Meeting, items_of(page))
        found += [_message(one, own) for one in meetings]
        unreadable += wrong
        if not (following := next_of(page)):
            break
        page = await session.follow(following, _IN_UTC)
    ahead = [one for one in found if one.ends_at is None or one.ends_at > _midnight(now.astimezone().date())]
    yield MessageBatch(sorted(ahead, key=lambda one: one.received_at, reverse=True), unreadable)


def _message(meeting: Meeting, own: frozenset[str]) -> MailboxMessage:
    organizer = person_of(meeting.organizer)
    address = organizer.address
    begins, ends = _span(meeting)
    return MailboxMessage(
        source="meeting",
        source_id=meeting.id,
        sender=organizer.name,
        sender_address=address,
        address="" if address.casefold() in own else address,
        to=named(meeting.attendees),
        subject=meeting.subject or "",
        preview=(meeting.location.display_name if meeting.location else None) or "",
        received_at=begins,
        ends_at=ends,
        is_all_day=bool(meeting.is_all_day),
        priority=priority_of(meeting.importance),
        web_link=meeting.web_link or "",
        standing=_standing(meeting, address.casefold(), own),
    )


def _standing(meeting: Meeting, organizer: str, own: frozenset[str]) -> Standing:
    response = meeting.response_status.response if meeting.response_status else None
    return Standing(
        is_own=(bool(meeting.is_organizer) or organizer in own) and _is_alone(meeting.attendees, own),
        is_cancelled=bool(meeting.is_cancelled),
        is_declined=response == "declined",
    )


def _is_alone(attendees: Iterable[Attendee] | None, own: frozenset[str]) -> bool:
    """Return whether the owner alone is invited: a room does not count. A missing list is no proof of that."""
    if attendees is None:
        return False
    people = (one for one in attendees if (one.type or "").lower() != _ROOM)
    return all(one.email_address and (one.email_address.address or "").casefold() in own for one in people)


def _span(meeting: Meeting) -> tuple[datetime, datetime | None]:
    """Return when a meeting begins, and when it ends, if the vendor names that; a whole day is one at least."""
    start, end = meeting.start.date_time, meeting.end.date_time if meeting.end else None
    if meeting.is_all_day:
        last = max(end.date() if end else start.date(), start.date() + timedelta(days=1))
        return _midnight(start.date()), _midnight(last)
    begins = start.replace(tzinfo=UTC)
    return begins, max(begins, end.replace(tzinfo=UTC)) if end else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time()).astimezone()


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
