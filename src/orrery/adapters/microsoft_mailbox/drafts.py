"""Drafts of replies: one for each key, which is stored with the draft as a property of our own."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.adapters.microsoft_mailbox.client import ChangedMeanwhile, GraphSession, Json, segment
from orrery.adapters.microsoft_mailbox.shapes import items_of
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable
from orrery.ports.comms.mailboxes import MailboxDraft, ReplyRequest
from orrery.ports.comms.messages import Person

_PROPERTY = "String {7f0c5f0e-5d5b-4d0c-9a3e-0b1f6d2c8e41} Name OrreryDraft"
"""The name under which a draft has its key: a set of our own, made up once."""

_DRAFTS = "/me/mailFolders/drafts/messages"
_LOOKS = 3
"""How often an original is looked at that changes while its unread state is put back."""

_LEFT_OVER = timedelta(minutes=10)
"""How old a reply without text may be to be taken for one whose key was not stored: a kill came between."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """Makes drafts over one session.

    `turn` is held while one is made for the account; one cockpit runs on a machine, for its port is taken once.
    """

    session: GraphSession
    now: datetime
    turn: asyncio.Lock

    async def draft(self, reply: ReplyRequest) -> MailboxDraft:
        """See `Mailbox`."""
        if not reply.to:
            raise MailboxRefused("There is no address to reply to.")
        async with self.turn:
            if found := await self._find(reply.key):
                return _draft(found, is_new=False)
            if reply.message.source == "mail":
                return await self._reply(reply)
            return _draft(await self.session.post("/me/messages", _new_mail(reply)), is_new=True)

    async def _find(self, key: str) -> Json | None:
        known = f"singleValueExtendedProperties/Any(ep: ep/id eq '{_PROPERTY}' and ep/value eq '{_quoted(key)}')"
        page = await self.session.get(_DRAFTS, {"$filter": known, "$select": "id,webLink"})
        return next(iter(items_of(page)), None)

    async def _reply(self, reply: ReplyRequest) -> MailboxDraft:
        """Make the reply with its key, and put back what that does to the original: it is marked as read.

        The vendor does not document whether it keeps a property that comes with a reply, or recipients that do,
        so both are stored by a second call. Where that was not reached, the draft is found by its text.
        """
        path = f"/me/messages/{segment(reply.message.source_id)}"
        before = await self.session.get(path, {"$select": "isRead,conversationId"})
        left_over = await self._left_over(reply, str(before.get("conversationId", "")))
        try:
            made = left_over or await self._made(path, reply)
            draft = _draft(made, is_new=left_over is None)
            _ = await self.session.patch(f"/me/messages/{segment(draft.id)}", _addressed(reply))
        finally:  # a reply may have been made although its answer did not come
            if before.get("isRead") is False:
                await self._mark_unread(path)
        return draft

    async def _made(self, path: str, reply: ReplyRequest) -> Json:
        text = {"message": {"body": _body(reply)}}
        if reply.to_all:
            return await self.session.post(f"{path}/createReplyAll", text)
        return await self.session.post(f"{path}/createReply", text)

    async def _left_over(self, reply: ReplyRequest, conversation: str) -> Json | None:
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

    def _is_left_over(self, draft: Json, reply: ReplyRequest) -> bool:
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
            except ChangedMeanwhile:
                continue
            return


def _new_mail(reply: ReplyRequest) -> Json:
    """Return a new mail: to the organizer of a meeting, or to who wrote in a chat (decision 35)."""
    subject = reply.message.subject
    named = subject if reply.message.source == "teams" else f"Re: {subject}"
    return {"subject": named, "body": _body(reply), **_addressed(reply)}


def _body(reply: ReplyRequest) -> Json:
    kind = "html" if reply.text.media_type == "text/html" else "text"
    return {"contentType": kind, "content": reply.text.content}


def _addressed(reply: ReplyRequest) -> Json:
    """Return the recipients, as they were shown, and the key."""
    return {
        "toRecipients": _recipients(reply.to),
        "ccRecipients": _recipients(reply.cc),
        "singleValueExtendedProperties": [{"id": _PROPERTY, "value": reply.key}],
    }


def _recipients(people: Iterable[Person]) -> list[Json]:
    return [{"emailAddress": {"name": one.name or one.address, "address": one.address}} for one in people]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _draft(found: Json, *, is_new: bool) -> MailboxDraft:
    draft_id, link = found.get("id"), found.get("webLink")
    if not isinstance(draft_id, str) or found.get("isDraft") is False:
        raise MailboxUnreachable("The mailbox's answer is not as documented.")
    return MailboxDraft(draft_id, link if isinstance(link, str) else "", is_new)
