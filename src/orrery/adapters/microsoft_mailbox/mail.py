"""The mail of an account's inbox, kept and brought up to date: nothing is fetched twice."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.changes import FIRST_PAGE, FolderChanges, Item
from orrery.adapters.microsoft_mailbox.client import GraphSession, StateLost
from orrery.adapters.microsoft_mailbox.own_words import EXPAND, OwnWords, answered_at
from orrery.adapters.microsoft_mailbox.shapes import GraphMail, in_utc, named, person_of, priority_of
from orrery.ports.comms.mailboxes import MessageBatch
from orrery.ports.comms.messages import UNKNOWN, MailboxMessage, addressed, kept_once
from orrery.syntax.bulk_mail import HEADERS, is_bulk, lists_of

BATCH = 1000
"""Messages of a batch that were known before."""

_SELECT = (
    "id,subject,from,toRecipients,ccRecipients,replyTo,receivedDateTime,importance,bodyPreview,webLink,isDraft,"
    "conversationId,flag,internetMessageHeaders"
)
_REMOVED = "@removed"
_COMPLETE = "complete"


class MailFolder:
    """What is known of the inbox. A reading that broke off goes on where it was."""

    def __init__(self, days: int) -> None:
        """`days` is how far back mail is listed; 0 is all of it."""
        self.days = days
        self.own_words = OwnWords(days)
        self._changes = FolderChanges("inbox", {"$select": _SELECT, "$expand": EXPAND}, days, FIRST_PAGE)
        self._own = frozenset[str]()
        self._forget()

    async def batches(
        self, session: GraphSession, own: frozenset[str], now: datetime
    ) -> AsyncGenerator[MessageBatch]:
        """Yield the messages, newest first: page by page the first time, and then as a whole.

        `own` are the addresses of the account, in lower case.
        """
        self._own = own
        try:
            async for batch in self._read(session, now):
                yield batch
        except StateLost:
            self._forget()
            try:
                async for batch in self._read(session, now):
                    yield batch
            except StateLost:
                self._forget()
                raise

    async def _read(self, session: GraphSession, now: datetime) -> AsyncGenerator[MessageBatch]:
        if self._is_whole:
            async for page in self._changes.pages(session, now):
                _ = self._applied(page)
            self._forget_older(now)
        for batch in self._all():
            yield batch
        if not self._is_whole:
            async for page in self._first_pages(session, now):
                yield self._applied(page)
            self._is_whole = True
        if unreadable := len(self._unreadable) + self._nameless:
            yield MessageBatch((), unreadable)

    async def _first_pages(self, session: GraphSession, now: datetime) -> AsyncGenerator[Sequence[Item]]:
        """Yield all pages of a first reading: what the vendor leaves out of a period, too."""
        if not self._changes.is_listed:
            async for page in self._changes.pages(session, now):
                yield page
        if self._changes.is_cut and self._known:
            oldest = min(one.received_at for one in self._known.values())
            async for page in self._changes.older(session, now, oldest):
                yield [one for one in page if one.get("id") not in self._known]

    def _applied(self, items: Iterable[Item]) -> MessageBatch:
        """Apply the changes of a page; return what is new or changed, and what has left."""
        found, gone = dict[str, MailboxMessage](), set[str]()
        for item in items:
            source_id = item.get("id")
            if not isinstance(source_id, str) or not source_id:
                self._nameless += 1
            elif _REMOVED in item:
                self._remove(source_id)
                _ = found.pop(source_id, None)
                gone.add(source_id)
            elif source_id in self._unlisted and "receivedDateTime" not in item:
                pass
            elif message := self._read_item(source_id, item):
                self._known[source_id] = found[source_id] = message
                gone.discard(source_id)
        return MessageBatch(_newest_first(self._known[one] for one in found), gone=frozenset(gone))

    def _remove(self, source_id: str) -> None:
        _ = self._known.pop(source_id, None)
        self._unreadable.discard(source_id)
        self._unlisted.discard(source_id)

    def _read_item(self, source_id: str, item: Item) -> MailboxMessage | None:
        """Return a message, or None for a draft and for what cannot be read; a change has only what is changed."""
        known = self._known.get(source_id)
        try:
            mail = GraphMail.model_validate(item)
        except ValidationError:
            mail = None
        if mail is None or not (known or mail.received_date_time):
            self._unreadable.add(source_id)
            return None
        self._unreadable.discard(source_id)
        if mail.is_draft:
            self._unlisted.add(source_id)
            return None
        self._unlisted.discard(source_id)
        return self._judged(_message(mail, known, self._own), mail)

    def _judged(self, message: MailboxMessage, mail: GraphMail) -> MailboxMessage:
        """Return a message with the answer that its own flag shows; the rest of its conversation gets it, too."""
        at = answered_at(mail.single_value_extended_properties, message.received_at)
        if at is None:
            return self._answered(message)
        self.own_words.note(message.conversation, at)
        return replace(message, standing=kept_once(replace(message.standing, is_answered=True)))

    def _answered(self, message: MailboxMessage) -> MailboxMessage:
        if message.standing.is_answered or not self.own_words.are_after(message):
            return message
        return replace(message, standing=kept_once(replace(message.standing, is_answered=True)))

    def _all(self) -> Iterator[MessageBatch]:
        for key, one in self._known.items():
            self._known[key] = self._answered(one)
        found = _newest_first(self._known.values())
        yield from (MessageBatch(found[start : start + BATCH]) for start in range(0, len(found), BATCH))

    def _forget_older(self, now: datetime) -> None:
        if since := self._changes.since(now):
            older = [key for key, one in self._known.items() if one.received_at < since]
            self._unlisted.update(older)
            for key in older:
                del self._known[key]

    def _forget(self) -> None:
        self._known: dict[str, MailboxMessage] = {}
        self._unreadable: set[str] = set()
        self._nameless = 0
        self._unlisted: set[str] = set()  # drafts and what is too old: a change of these is not a whole message
        self._changes.forget()
        self._is_whole = False


def _message(mail: GraphMail, known: MailboxMessage | None, own: frozenset[str]) -> MailboxMessage:
    """Return a message: as it was before, if it was known, but for what the vendor sends."""
    sent: set[str] = mail.model_fields_set if known else set(GraphMail.model_fields)
    new = {name: value for field, found in _parts(mail).items() if field in sent for name, value in found.items()}
    message = replace(known, **new) if known else MailboxMessage("mail", mail.id, **new)
    address = next((one.address for one in message.reply_to if one.address), message.sender_address)
    standing = kept_once(replace(message.standing, **_standing(message, mail, sent, own)))
    return replace(message, address=address, standing=standing)


def _parts(mail: GraphMail) -> dict[str, dict[str, Any]]:
    """Return a message's fields by those of the vendor."""
    sender = person_of(mail.sender)
    received = {"received_at": in_utc(mail.received_date_time)} if mail.received_date_time else {}
    return {
        "sender": {"sender": sender.name, "sender_address": sender.address, "address": sender.address},
        "subject": {"subject": mail.subject or ""},
        "body_preview": {"preview": " ".join((mail.body_preview or "").split())},
        "received_date_time": received,
        "importance": {"priority": priority_of(mail.importance)},
        "web_link": {"web_link": mail.web_link or ""},
        "to_recipients": {"to": named(mail.to_recipients)},
        "cc_recipients": {"cc": named(mail.cc_recipients)},
        "reply_to": {"reply_to": named(mail.reply_to)},
        "conversation_id": {"conversation": mail.conversation},
    }


def _standing(message: MailboxMessage, mail: GraphMail, sent: set[str], own: frozenset[str]) -> dict[str, Any]:
    """Return what follows from the fields that were sent; nothing follows from a field that is left out."""
    new: dict[str, Any] = {"is_own": message.sender_address.casefold() in own}
    if sent & {"to_recipients", "cc_recipients"}:
        is_known = mail.to_recipients is not None or "to_recipients" not in sent
        new["addressed"] = addressed(own, message.to, message.cc) if is_known else UNKNOWN.addressed
    if mail.internet_message_headers is not None:
        held = {
            one.name.lower(): one.value for one in mail.internet_message_headers if one.name.lower() in HEADERS
        }
        new |= {"is_bulk": is_bulk(held), "lists": lists_of(held)}
    if "flag" in sent:
        new["is_complete"] = mail.flag is not None and mail.flag.flag_status == _COMPLETE
    return new


def _newest_first(messages: Iterable[MailboxMessage]) -> list[MailboxMessage]:
    return sorted(messages, key=lambda one: one.received_at, reverse=True)
