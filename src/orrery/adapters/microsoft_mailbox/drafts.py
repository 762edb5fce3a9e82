"""Drafts of replies: made once for each key, by a property that is stored with the draft."""

from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from orrery.adapters.microsoft_mailbox.client import Changed, GraphSession, Json
from orrery.adapters.microsoft_mailbox.shapes import items_of
from orrery.errors import MailboxRefused, MailboxUnreachable
from orrery.ports.comms.mailboxes import Draft, Reply

_PROPERTY = "String {7f0c5f0e-5d5b-4d0c-9a3e-0b1f6d2c8e41} Name OrreryDraft"
"""The name under which a draft has its key: a set of our own, made up once."""

_LOOKS = 3
"""How often an original is looked at that changes while its unread state is put back."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """Makes drafts over one session."""

    session: GraphSession

    async def draft(self, reply: Reply) -> Draft:
        """See `Mailbox`."""
        message = reply.message
        if not message.address:
            raise MailboxRefused("There is no address to reply to.")
        if found := await self._find(reply.key):
            return _draft(found, is_new=False)
        if message.source == "mail":
            return _draft(await self._reply(reply), is_new=True)
        return _draft(await self.session.post("/me/messages", _new_mail(reply)), is_new=True)

    async def _find(self, key: str) -> Json | None:
        """Return the draft with a key, the oldest where two processes have made it at the same time."""
        known = f"singleValueExtendedProperties/Any(ep: ep/id eq '{_PROPERTY}' and ep/value eq '{_quoted(key)}')"
        page = await self.session.get(
            "/me/mailFolders/drafts/messages", {"$filter": known, "$select": "id,webLink"}
        )
        return next(iter(items_of(page)), None)

    async def _reply(self, reply: Reply) -> Json:
        """Make the reply, and put back what that does to the original: it is marked as read."""
        path = f"/me/messages/{quote(reply.message.source_id, safe='')}"
        before = await self.session.get(path, {"$select": "isRead"})
        body: Json = {"message": {"singleValueExtendedProperties": [_property(reply.key)]}}
        if reply.comment:
            body["comment"] = reply.comment
        made = await self.session.post(f"{path}/createReply", body)
        if before.get("isRead") is False:
            await self._mark_unread(path)
        return made

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


def _new_mail(reply: Reply) -> Json:
    """Return a new mail: to the organizer of a meeting, or to who wrote in a chat (decision 35)."""
    message = reply.message
    said = f"<p>{escape(reply.comment).replace(chr(10), '<br>')}</p>" if reply.comment else ""
    quoted = f"<blockquote>{escape(message.preview)}</blockquote>" if message.preview else ""
    return {
        "subject": message.subject if message.source == "teams" else f"Re: {message.subject}",
        "body": {"contentType": "html", "content": said + quoted},
        "toRecipients": [{"emailAddress": {"name": message.sender, "address": message.address}}],
        "singleValueExtendedProperties": [_property(reply.key)],
    }


def _property(key: str) -> dict[str, str]:
    return {"id": _PROPERTY, "value": key}


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _draft(found: dict[str, Any], *, is_new: bool) -> Draft:
    draft_id, link = found.get("id"), found.get("webLink")
    if not isinstance(draft_id, str) or found.get("isDraft") is False:
        raise MailboxUnreachable("The mailbox's answer is not as documented.")
    return Draft(draft_id, link if isinstance(link, str) else "", is_new)
