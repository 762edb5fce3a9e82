"""The chats of an account: a row for each, which is its last message."""

import re
from collections.abc import AsyncGenerator
from datetime import datetime
from html import unescape

from orrery.adapters.microsoft_mailbox.client import GraphSession, Json, segment
from orrery.adapters.microsoft_mailbox.shapes import (
    Body,
    Chat,
    ChatMessage,
    User,
    in_utc,
    items_of,
    next_of,
    read_all,
)
from orrery.ports.comms.errors import RowGone
from orrery.ports.comms.mailboxes import MessageBatch, MessageBody
from orrery.ports.comms.messages import UNKNOWN, MailboxMessage, Standing

PAGE = 50
"""Chats of a page; Graph gives no more."""

_PREVIEW, _LOOKED_AT = 160, 20_000
_MARK_UP = re.compile(r"<[^<>]*>")
_SEPARATOR = " "


async def chat_batches(session: GraphSession, own_id: str, since: datetime) -> AsyncGenerator[MessageBatch]:
    """Yield the last message of each chat, newest first, back to `since`."""
    page = await session.get(
        "/me/chats",
        {
            "$expand": "lastMessagePreview,members",
            "$orderby": "lastMessagePreview/createdDateTime desc",
            "$top": str(PAGE),
        },
    )
    while True:
        chats, unreadable = read_all(Chat, items_of(page))
        found = [one for chat in chats if (one := _message(chat, own_id)) and one.received_at >= since]
        last = [in_utc(chat.last_message_preview.created_date_time) for chat in chats if chat.last_message_preview]
        yield MessageBatch(sorted(found, key=lambda one: one.received_at, reverse=True), unreadable)
        following = next_of(page)
        if not following or (last and min(last) < since):
            return
        page = await session.follow(following)


async def chat_message(session: GraphSession, source_id: str) -> Json:
    """Return a chat message as the vendor has it; raise `RowGone`."""
    chat, _, message = source_id.partition(_SEPARATOR)
    if not message:
        raise RowGone("This row is no longer in its mailbox.")
    return await session.get(f"/chats/{segment(chat)}/messages/{segment(message)}")


async def chat_body(session: GraphSession, source_id: str) -> MessageBody:
    """Return the text of a chat message; raise `RowGone`."""
    found = ChatMessage.model_validate(await chat_message(session, source_id))
    content = (found.body.content if found.body else None) or ""
    is_html = found.body is not None and (found.body.content_type or "").lower() == "html"
    return MessageBody("text/html" if is_html else "text/plain", content)


def beginning(body: Body | None, most: int) -> str:
    """Return the beginning of a text without its mark-up, on one line: it is shown as it is."""
    content = ((body.content if body else None) or "")[:_LOOKED_AT]
    if body and (body.content_type or "").lower() == "html":
        content = unescape(_MARK_UP.sub(" ", content))
    return " ".join(content.split())[:most]


def _message(chat: Chat, own_id: str) -> MailboxMessage | None:
    """Return a chat as a message, or None when it has no message."""
    last = chat.last_message_preview
    if last is None:
        return None
    user = (last.sender.user or last.sender.application) if last.sender else None
    others = [one for one in chat.members or () if one.user_id != own_id]
    author = next((one for one in others if user and one.user_id == user.id), None)
    names = ", ".join(one.display_name for one in others if one.display_name)
    address = (author.email if author else None) or ""
    return MailboxMessage(
        source="teams",
        source_id=f"{chat.id}{_SEPARATOR}{last.id}",
        sender=(user.display_name if user else None) or (author.display_name if author else None) or "",
        address=address,
        sender_address=address,
        subject=chat.topic or names,
        preview=beginning(last.body, _PREVIEW),
        received_at=in_utc(last.created_date_time),
        web_link=chat.web_url or "",
        standing=_standing(last, user, own_id),
    )


def _standing(last: ChatMessage, user: User | None, own_id: str) -> Standing:
    """Return who has the last word: a deleted message, and a note of who came and went, have no author."""
    if last.is_deleted or last.message_type not in {None, "message"} or user is None:
        return Standing(is_notice=True)
    return Standing(is_answered=True) if user.id == own_id else UNKNOWN
