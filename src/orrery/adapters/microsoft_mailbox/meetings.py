"""The meetings of an account: what begins within the next days, each occurrence a row."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from orrery.adapters.microsoft_mailbox.client import GraphSession
from orrery.adapters.microsoft_mailbox.shapes import (
    Meeting,
    items_of,
    name_and_address,
    next_of,
    priority_of,
    read_all,
)
from orrery.ports.comms.mailboxes import Batch
from orrery.ports.comms.messages import Message

AHEAD = timedelta(days=7)
"""How far ahead meetings are listed."""

_PAGE = 100
_SELECT = "id,subject,start,isAllDay,isCancelled,organizer,responseStatus,importance,location,webLink"
_IN_UTC = 'outlook.timezone="UTC"'


async def meeting_batches(session: GraphSession, own: str, now: datetime) -> AsyncGenerator[Batch]:
    """Yield the meetings ahead that are neither cancelled nor declined, the latest first.

    `own` is the account's address: nobody replies to a meeting of their own. An all-day meeting begins at midnight
    of this machine's day, whatever the calendar's time zone.
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
    found, unreadable = list[Message](), 0
    while True:
        meetings, wrong = read_all(Meeting, items_of(page))
        found += [_message(one, own) for one in meetings if _is_open(one)]
        unreadable += wrong
        if not (following := next_of(page)):
            break
        page = await session.follow(following, _IN_UTC)
    ahead = [one for one in found if one.received_at >= _today(now)]
    yield Batch(sorted(ahead, key=lambda one: one.received_at, reverse=True), unreadable)


def _is_open(meeting: Meeting) -> bool:
    response = meeting.response_status.response if meeting.response_status else None
    return not meeting.is_cancelled and response != "declined"


def _message(meeting: Meeting, own: str) -> Message:
    sender, address = name_and_address(meeting.organizer)
    start = meeting.start.date_time
    begins = start.replace(tzinfo=UTC)
    if meeting.is_all_day:
        begins = datetime(start.year, start.month, start.day).astimezone()
    return Message(
        source="meeting",
        source_id=meeting.id,
        sender=sender,
        address="" if address.casefold() == own.casefold() else address,
        subject=meeting.subject or "",
        preview=(meeting.location.display_name if meeting.location else None) or "",
        received_at=begins,
        priority=priority_of(meeting.importance),
        web_link=meeting.web_link or "",
    )


def _today(now: datetime) -> datetime:
    return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
