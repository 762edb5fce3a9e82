"""The mail of an account's inbox, kept and brought up to date: nothing is fetched twice."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.client import BadRequest, GraphSession, StateLost
from orrery.adapters.microsoft_mailbox.shapes import (
    Mail,
    changes_of,
    in_utc,
    items_of,
    name_and_address,
    next_of,
    priority_of,
)
from orrery.errors import RowGone
from orrery.ports.comms.mailboxes import Batch
from orrery.ports.comms.messages import Message

FIRST_PAGE, PAGE = 50, 500
"""Messages that are asked for at once: a small first page, so that the list is there soon."""

MOST_OF_DAYS = 5000
"""How many messages the vendor lists at most where a period of time is asked for."""

BATCH = 1000
"""Messages of a batch that were known before."""

_SELECT = "id,subject,from,receivedDateTime,importance,bodyPreview,webLink,isDraft"
_DELTA = "/me/mailFolders/inbox/messages/delta"
_REMOVED = "@removed"


class MailFolder:
    """What is known of the inbox. A reading that broke off goes on where it was."""

    def __init__(self, days: int) -> None:
        """`days` is how far back mail is listed; 0 is all of it."""
        self._days = timedelta(days=days)
        self._forget()

    @property
    def is_cut(self) -> bool:
        """Whether older messages of these days are missing: the vendor ends such a list without a word."""
        return bool(self._days) and self._first_count >= MOST_OF_DAYS

    async def batches(self, session: GraphSession, now: datetime) -> AsyncGenerator[Batch]:
        """Yield the messages, newest first: page by page the first time, and then as a whole."""
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

    async def _read(self, session: GraphSession, now: datetime) -> AsyncGenerator[Batch]:
        was_whole = self._is_whole
        if not was_whole:
            for batch in self._all():
                yield batch
        while True:
            page = await self._page(session, now)
            following, items = next_of(page), items_of(page)
            link = following or changes_of(page)
            changed = [*self._applied(items)]
            if not was_whole:
                self._first_count += sum(_REMOVED not in one for one in items)
            self._link = link
            if not was_whole and changed:
                yield Batch(_newest_first(changed))
            if not following:
                break
        self._is_whole = True
        self._forget_older(now)
        if was_whole:
            for batch in self._all():
                yield batch
        if self._unreadable:
            yield Batch((), len(self._unreadable))

    async def _page(self, session: GraphSession, now: datetime) -> Mapping[str, Any]:
        size = f"odata.maxpagesize={PAGE if self._link else FIRST_PAGE}"
        if self._link:
            try:
                return await session.follow(self._link, size)
            except (BadRequest, RowGone):
                raise StateLost("The mailbox must be read anew.") from None
        params = {"$select": _SELECT, "$orderby": "receivedDateTime desc"}
        if self._days:
            params["$filter"] = f"receivedDateTime ge {now - self._days:%Y-%m-%dT%H:%M:%SZ}"
        return await session.get(_DELTA, params, size)

    def _applied(self, items: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
        """Apply the changes of a page; yield what is new or changed."""
        for number, item in enumerate(items):
            source_id = item.get("id")
            if not isinstance(source_id, str):
                self._unreadable.add(f"{self._link} {number}")
            elif _REMOVED in item:
                _ = self._known.pop(source_id, None)
                self._unreadable.discard(source_id)
                self._unlisted.discard(source_id)
            elif source_id in self._unlisted and "receivedDateTime" not in item:
                pass
            elif found := self._read_item(source_id, item):
                self._known[source_id] = found
                yield found

    def _read_item(self, source_id: str, item: Mapping[str, Any]) -> Message | None:
        """Return a message, or None for a draft and for what cannot be read; a change has only what is changed."""
        known = self._known.get(source_id)
        if known:
            item = {"receivedDateTime": known.received_at, **_as_before(known), **item}
        try:
            mail = Mail.model_validate(item)
        except ValidationError:
            self._unreadable.add(source_id)
            return None
        self._unreadable.discard(source_id)
        if mail.is_draft:
            self._unlisted.add(source_id)
            return None
        self._unlisted.discard(source_id)
        return _message(mail)

    def _all(self) -> Iterator[Batch]:
        found = _newest_first(self._known.values())
        yield from (Batch(found[start : start + BATCH]) for start in range(0, len(found), BATCH))

    def _forget_older(self, now: datetime) -> None:
        if self._days:
            since = now - self._days
            older = [key for key, one in self._known.items() if one.received_at < since]
            self._unlisted.update(older)
            for key in older:
                del self._known[key]

    def _forget(self) -> None:
        self._known: dict[str, Message] = {}
        self._unreadable: set[str] = set()
        self._unlisted: set[str] = set()  # drafts and what is too old: a change of these is not a whole message
        self._link = ""
        self._is_whole = False
        self._first_count = 0


def _message(mail: Mail) -> Message:
    sender, address = name_and_address(mail.sender)
    return Message(
        source="mail",
        source_id=mail.id,
        sender=sender,
        address=address,
        subject=mail.subject or "",
        preview=mail.body_preview or "",
        received_at=in_utc(mail.received_date_time),
        priority=priority_of(mail.importance),
        web_link=mail.web_link or "",
    )


def _as_before(known: Message) -> dict[str, Any]:
    return {
        "subject": known.subject,
        "from": {"emailAddress": {"name": known.sender, "address": known.address}},
        "importance": known.priority,
        "bodyPreview": known.preview,
        "webLink": known.web_link,
    }


def _newest_first(messages: Iterable[Message]) -> list[Message]:
    return sorted(messages, key=lambda one: one.received_at, reverse=True)
