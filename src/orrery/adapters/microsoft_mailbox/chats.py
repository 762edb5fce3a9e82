"""The chats of an account: one row for each whose last message is somebody else's."""

from collections.abc import AsyncGenerator
from datetime import datetime
from urllib.parse import quote

from orrery.adapters.microsoft_mailbox.client import GraphSession
from orrery.adapters.microsoft_mailbox.shapes import Chat, ChatMessage, in_utc, items_of, read_all
from orrery.ports.comms.mailboxes import Batch, MessageBody
from orrery.ports.comms.messages import Message

PAGE = 50
"""Chats of a page; Graph gives no more."""

_PREVIEW = 160
_SEPARATOR = " "


async def chat_batches(session: GraphSession, own_id: str, since: datetime) -> AsyncGenerator[Batch]:
    """Yield the last message of each chat, unless it is the account's own, newest first, back to `since`."""
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
        yield Batch(sorted(found, key=lambda one: one.received_at, reverse=True), unreadable)
        following = page.get("@odata.nextLink")
        if not isinstance(following, str) or (last and min(last) < since):
            return
        page = await session.get(following)


async def chat_body(session: GraphSession, source_id: str) -> MessageBody:
    """Return the text of a chat message; raise `RowGone`."""
    chat, _, message = source_id.partition(_SEPARATOR)
    answer = await session.get(f"/chats/{quote(chat, safe='')}/messages/{quote(message, safe='')}")
    found = ChatMessage.model_validate(answer)
    content = (found.body.content if found.body else None) or ""
    is_html = found.body is not None and found.body.content_type == "html"
    return MessageBody("text/html" if is_html else "text/plain", content)


def _message(chat: Chat, own_id: str) -> Message | None:
    """Return a chat as a message, or None when nobody else said the last word."""
    last = chat.last_message_preview
    if last is None or last.is_deleted or last.message_type not in {None, "message"}:
        return None
    user = (last.sender.user or last.sender.application) if last.sender else None
    if user is None or user.id == own_id:
        return None
    others = [one for one in chat.members if one.user_id != own_id]
    author = next((one for one in others if one.user_id == user.id), None)
    names = ", ".join(one.display_name for one in others if one.display_name)
    return Message(
        source="teams",
        source_id=f"{chat.id}{_SEPARATOR}{last.id}",
        sender=user.display_name or (author.display_name if author else None) or "",
        address=(author.email if author else None) or "",
        subject=chat.topic or names,
        preview=((last.body.content if last.body else None) or "")[:_PREVIEW],
        received_at=in_utc(last.created_date_time),
        web_link=chat.web_url or "",
    )
