"""The text of a message or a meeting, and what else it has: attachments by name, the data of a meeting."""

from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.client import GraphSession, segment
from orrery.adapters.microsoft_mailbox.shapes import (
    AttachedFile,
    Attendee,
    Body,
    EventMessage,
    GraphDateTime,
    Meeting,
    items_of,
    next_of,
    person_of,
    read_all,
)
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import Attachment, Invitation, MessageBody, Trouble
from orrery.ports.comms.messages import NO_PERSON, Person

_MOST = 200
"""Attachments that are listed."""

_ABOUT = {"$select": "id,name,contentType,size,isInline", "$top": "100"}
_EVENT = "body,subject,start,end,isAllDay,location,organizer,responseStatus,attendees,isCancelled"
_ROOM = "resource"
_IN_UTC = 'outlook.timezone="UTC"'

_METHODS = {
    "meetingRequest": "request",
    "meetingCancelled": "cancel",
    "meetingAccepted": "reply",
    "meetingTenativelyAccepted": "reply",  # codespell:ignore  the vendor's own spelling
    "meetingDeclined": "reply",
}
_ANSWERS = {
    "meetingAccepted": "accepted",
    "meetingTenativelyAccepted": "tentative",  # codespell:ignore  the vendor's own spelling
    "meetingDeclined": "declined",
    "accepted": "accepted",
    "tentativelyAccepted": "tentative",
    "declined": "declined",
    "notResponded": "needs-action",
}
_KINDS = {"#microsoft.graph.itemAttachment": "message/rfc822", "#microsoft.graph.referenceAttachment": "a link"}


async def mail_body(session: GraphSession, source_id: str) -> MessageBody:
    """Return the text of a message; raise `RowGone`. No content of an attachment is asked for.

    What an invitation has beside a message comes only where nothing is selected.
    """
    path = f"/me/messages/{segment(source_id)}"
    answer = await session.get(path, None, _IN_UTC)
    body = _text(answer)
    listed, troubles = tuple[Attachment, ...](), tuple[Trouble, ...]()
    if answer.get("hasAttachments") is True or not body.content.strip():
        try:
            listed = tuple([one async for one in _attachments(session, f"{path}/attachments")])
        except (MailboxRefused, MailboxUnreachable, RowGone):  # the text is there: it is shown all the same
            troubles = ("attachments",)
    return MessageBody(body.media_type, body.content, listed, _of_message(answer), troubles)


async def event_body(session: GraphSession, source_id: str) -> MessageBody:
    """Return the text of a meeting, with when and where it is; raise `RowGone`."""
    answer = await session.get(f"/me/events/{segment(source_id)}", {"$select": _EVENT}, _IN_UTC)
    body = _text(answer)
    return MessageBody(body.media_type, body.content, invitation=_of_event(answer, source_id))


async def _attachments(session: GraphSession, path: str) -> AsyncGenerator[Attachment]:
    page, count = await session.get(path, _ABOUT), 0
    while count < _MOST:
        found, _ = read_all(AttachedFile, items_of(page))
        for one in found:
            count += 1
            if not (one.is_inline and (one.content_type or "").lower().startswith("image/")):
                kind = one.content_type or _KINDS.get(one.kind or "", "")
                yield Attachment(one.name or "", kind.lower(), one.size)
        if not (following := next_of(page)):
            return
        page = await session.follow(following)


def _text(answer: Mapping[str, Any]) -> MessageBody:
    found = Body.model_validate(answer.get("body"))
    is_html = (found.content_type or "").lower() == "html"
    return MessageBody("text/html" if is_html else "text/plain", found.content or "")


def _of_message(answer: Mapping[str, Any]) -> Invitation | None:
    """Return an invitation, or an answer to one; None for every other message."""
    if not answer.get("meetingMessageType"):
        return None
    try:
        found = EventMessage.model_validate(answer)
    except ValidationError:
        return Invitation()
    kind = found.meeting_message_type or ""
    sender = person_of(found.sender)
    answers = ((sender, _ANSWERS[kind]),) if kind in _ANSWERS else ()
    return Invitation(
        method=_METHODS.get(kind, ""),
        summary=found.subject or "",
        starts=_at(found.start_date_time),
        ends=_at(found.end_date_time),
        is_all_day=bool(found.is_all_day),
        place=(found.location.display_name if found.location else None) or "",
        organizer=NO_PERSON if answers else sender,
        answers=answers,
    )


def _of_event(answer: Mapping[str, Any], source_id: str) -> Invitation | None:
    """Return when and where a meeting is, by whom, and who has answered."""
    try:
        found = Meeting.model_validate({**answer, "id": source_id})
    except ValidationError:
        return None
    return Invitation(
        method="cancel" if found.is_cancelled else "",
        summary=found.subject or "",
        starts=_at(found.start),
        ends=_at(found.end),
        is_all_day=bool(found.is_all_day),
        place=(found.location.display_name if found.location else None) or "",
        organizer=person_of(found.organizer),
        answers=tuple(_answer(one) for one in found.attendees or () if (one.type or "").lower() != _ROOM),
    )


def _answer(one: Attendee) -> tuple[Person, str]:
    response = one.status.response if one.status else None
    address = one.email_address
    person = Person(address.name or "", address.address or "") if address else NO_PERSON
    return person, _ANSWERS.get(response or "", "needs-action")


def _at(when: GraphDateTime | None) -> datetime | None:
    return when.date_time.replace(tzinfo=UTC) if when else None
