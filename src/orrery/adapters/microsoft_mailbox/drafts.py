"""Drafts of replies: one for each key, which is stored with the draft as a property of our own."""

import asyncio
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html import escape
from typing import Any

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.chats import beginning, chat_message
from orrery.adapters.microsoft_mailbox.client import Changed, GraphSession, Json, segment
from orrery.adapters.microsoft_mailbox.shapes import ChatMessage, items_of
from orrery.errors import MailboxRefused, MailboxUnreachable
from orrery.ports.comms.mailboxes import Draft, Reply
from orrery.ports.comms.messages import Message

_PROPERTY = "String {7f0c5f0e-5d5b-4d0c-9a3e-0b1f6d2c8e41} Name OrreryDraft"
"""The name under which a draft has its key: a set of our own, made up once."""

_DRAFTS = "/me/mailFolders/drafts/messages"
_TEXT = 'outlook.body-content-type="text"'

_QUOTED = 4000
"""Characters of a chat message that a mail quotes."""

_NOT_PLAIN = re.compile(r"[\n<>&]")

_LOOKS = 3
"""How often an original is looked at that changes while its unread state is put back."""

_LEFT_OVER = timedelta(minutes=10)
"""How old a reply without text may be to be taken for one whose key was not stored: a kill came between."""


class Turns:
    """One draft at a time is made for each account; one cockpit runs on a machine, for its port is taken once."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()


@dataclass(frozen=True, slots=True)
class Drafts:
    """Makes drafts over one session."""

    session: GraphSession
    now: datetime
    turns: Turns = field(default_factory=Turns)

    async def draft(self, reply: Reply) -> Draft:
        """See `Mailbox`."""
        if not reply.message.address:
            raise MailboxRefused("There is no address to reply to.")
        async with self.turns.turn:
            if found := await self._find(reply.key):
                return _draft(found, is_new=False)
            if reply.message.source == "mail":
                return await self._reply(reply)
            original = await self._text(reply.message)
            return _draft(await self.session.post("/me/messages", _new_mail(reply, original)), is_new=True)

    async def _find(self, key: str) -> Json | None:
        known = f"singleValueExtendedProperties/Any(ep: ep/id eq '{_PROPERTY}' and ep/value eq '{_quoted(key)}')"
        page = await self.session.get(_DRAFTS, {"$filter": known, "$select": "id,webLink"})
        return next(iter(items_of(page)), None)

    async def _reply(self, reply: Reply) -> Draft:
        """Make the reply with its key, and put back what that does to the original: it is marked as read.

        Nothing says that the vendor keeps a property that comes with a reply, so the key is stored by a second
        call. Where that was not reached, the draft is found by its text.
        """
        path = f"/me/messages/{segment(reply.message.source_id)}"
        before = await self.session.get(path, {"$select": "isRead,conversationId,body"})
        left_over = await self._left_over(reply, str(before.get("conversationId", "")))
        try:
            made = left_over or await self.session.post(f"{path}/createReply", _answer(reply, before))
            draft = _draft(made, is_new=left_over is None)
            known = {"singleValueExtendedProperties": [_property(reply.key)]}
            _ = await self.session.patch(f"/me/messages/{segment(draft.id)}", known)
        finally:  # a reply may have been made although its answer did not come
            if before.get("isRead") is False:
                await self._mark_unread(path)
        return draft

    async def _left_over(self, reply: Reply, conversation: str) -> Json | None:
        """Return the draft of an earlier call that was killed before the key was stored, if there is one."""
        page = await self.session.get(
            _DRAFTS,
            {
                "$filter": f"conversationId eq '{_quoted(conversation)}'",
                "$select": "id,webLink,bodyPreview,createdDateTime",
                "$expand": f"singleValueExtendedProperties($filter=id eq '{_PROPERTY}')",
            },
        )
        return next((one for one in items_of(page) if self._is_left_over(one, reply)), None)

    def _is_left_over(self, draft: Json, reply: Reply) -> bool:
        if draft.get("singleValueExtendedProperties"):
            return False
        if comment := _plain(reply.comment):
            return _plain(str(draft.get("bodyPreview", ""))).startswith(comment[:100])
        try:
            made = datetime.fromisoformat(str(draft.get("createdDateTime")))
        except ValueError:
            return False
        return made.tzinfo is not None and self.now - made < _LEFT_OVER

    async def _mark_unread(self, path: str) -> None:
        for _ in range(_LOOKS):
            now = await self.session.get(path, {"$select": "isRead"})
            if now.get("isRead") is not True:
                return
            try:
                _ = await self.session.patch(path, {"isRead": False}, str(now.get("@odata.etag", "")))
            except Changed:
                continue
            return

    async def _text(self, message: Message) -> str:
        """Return what is quoted of a chat or a meeting; raise `RowGone`."""
        if message.source == "teams":
            found = await chat_message(self.session, message.source_id)
            try:
                return beginning(ChatMessage.model_validate(found).body, _QUOTED)
            except ValidationError:
                raise MailboxUnreachable("The message is not as documented.") from None
        event = f"/me/events/{segment(message.source_id)}"
        try:
            return _content(await self.session.get(event, {"$select": "body"}, _TEXT)) or message.preview
        except MailboxRefused:  # its text needs another permission than the list
            _ = await self.session.get(event, {"$select": "id"})
            return message.preview


def _answer(reply: Reply, original: Json) -> Json:
    """Return what createReply is given: a plain comment, which stands above the original, or the body as a whole.

    Nothing says whether the vendor keeps the lines of a comment, or takes mark-up in it for text.
    """
    comment = reply.comment.strip()
    if not _NOT_PLAIN.search(comment):
        return {"comment": comment} if comment else {}
    content = f"<p>{_lines(comment)}</p><hr><blockquote>{_marked_up(original)}</blockquote>"
    return {"message": {"body": {"contentType": "html", "content": content}}}


def _new_mail(reply: Reply, original: str) -> Json:
    """Return a new mail: to the organizer of a meeting, or to who wrote in a chat (decision 35)."""
    message = reply.message
    said = f"<p>{_lines(reply.comment)}</p>" if reply.comment else ""
    return {
        "subject": message.subject if message.source == "teams" else f"Re: {message.subject}",
        "body": {"contentType": "html", "content": f"{said}<blockquote>{_lines(original)}</blockquote>"},
        "toRecipients": [{"emailAddress": {"name": message.sender, "address": message.address}}],
        "singleValueExtendedProperties": [_property(reply.key)],
    }


def _content(answer: Json) -> str:
    body: Any = answer.get("body")
    content = body.get("content") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  any JSON
    return content if isinstance(content, str) else ""


def _marked_up(answer: Json) -> str:
    """Return a message's text as mark-up; what looks like mark-up in a plain one stays text."""
    body: Any = answer.get("body")
    kind = body.get("contentType") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  any JSON
    content = _content(answer)
    return content if isinstance(kind, str) and kind.lower() == "html" else _lines(content)


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _plain(text: str) -> str:
    return " ".join(text.split())


def _property(key: str) -> dict[str, str]:
    return {"id": _PROPERTY, "value": key}


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _draft(found: Json, *, is_new: bool) -> Draft:
    draft_id, link = found.get("id"), found.get("webLink")
    if not isinstance(draft_id, str) or found.get("isDraft") is False:
        raise MailboxUnreachable("The mailbox's answer is not as documented.")
    return Draft(draft_id, link if isinstance(link, str) else "", is_new)
