"""One account at Microsoft Graph as a mailbox; see `Mailbox`."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.chats import chat_batches, chat_body
from orrery.adapters.microsoft_mailbox.client import GraphClient, GraphSession
from orrery.adapters.microsoft_mailbox.contents import event_body, mail_body
from orrery.adapters.microsoft_mailbox.drafts import Drafts
from orrery.adapters.microsoft_mailbox.mail import MailFolder
from orrery.adapters.microsoft_mailbox.meetings import meeting_batches
from orrery.adapters.microsoft_mailbox.owner import Owner, owner_of
from orrery.ports.comms.errors import MailboxError, MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.comms.mailboxes import MailboxDraft, MessageBatch, MessageBody, ReplyRequest
from orrery.ports.comms.messages import Source
from orrery.syntax.track import Track

Part = Literal["mail", "teams", "meeting"]

_NAMES: dict[Part, str] = {"mail": "Mail", "teams": "Chats", "meeting": "Meetings"}

CHAT_DAYS = timedelta(days=30)
"""How far back chats are listed."""


@dataclass
class MicrosoftMailbox:
    """Lists mail, chats and meetings of one account, as far as `parts` names them, and makes drafts.

    One part that fails does not hold up the others: it is named when these are read.
    """

    client: GraphClient
    track: Track
    parts: Sequence[Part]
    folder: MailFolder
    addresses: Sequence[str] = ()
    drafting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _own: Owner | None = field(default=None, init=False)

    @property
    def account(self) -> str:
        return self.client.account

    @property
    def own_addresses(self) -> frozenset[str]:
        return self._own.addresses if self._own else frozenset({self.account.casefold()})

    @property
    def signs_in(self) -> bool:
        return True

    @property
    def caution(self) -> str:
        return ""

    def days_of(self, source: Source) -> int:
        """See `Mailbox`."""
        return self.folder.days if source == "mail" else CHAT_DAYS.days

    async def messages(self) -> AsyncGenerator[MessageBatch]:
        """See `Mailbox`; newest first within each source."""
        failed: MailboxError | None = None
        unread = set[str]()
        async with self.client.session() as session:
            for part in self.parts:
                try:
                    async for batch in self._batches(part, session):
                        yield batch
                except SignInNeeded:
                    raise
                except RowGone:
                    failed = failed or MailboxRefused(f"{_NAMES[part]}: the account has none of them.")
                    unread.add(part)
                except MailboxError as error:
                    failed = failed or type(error)(f"{_NAMES[part]}: {error}")
                    unread.add(part)
        if failed:
            failed.unread = frozenset(unread)
            raise failed

    async def body(self, source: Source, source_id: str) -> MessageBody:
        """See `Mailbox`."""
        async with self.client.session() as session:
            try:
                if source == "teams":
                    return await chat_body(session, source_id)
                return await (mail_body if source == "mail" else event_body)(session, source_id)
            except ValidationError:
                raise MailboxUnreachable("The message is not as documented.") from None

    async def draft(self, reply: ReplyRequest) -> MailboxDraft:
        """See `Mailbox`."""
        async with self.client.session() as session:
            return await Drafts(session, self.client.clock.now(), self.drafting).draft(reply)

    async def check(self) -> None:
        """See `Mailbox`."""
        async with self.client.session() as session:
            _ = await session.get("/me", {"$select": "id"})

    async def _batches(self, part: Part, session: GraphSession) -> AsyncGenerator[MessageBatch]:
        now, owner = self.client.clock.now(), await self._owner(session)
        if part == "mail":
            await self.folder.own_words.read(session, now)
            batches = self.folder.batches(session, owner.addresses, now)
        elif part == "teams":
            batches = chat_batches(session, owner.id, now - CHAT_DAYS)
        else:
            batches = meeting_batches(session, owner.addresses, now)
        async for batch in batches:
            yield batch
        if part == "mail" and (people := self.folder.own_words.people):
            yield MessageBatch((), written_to=[*people])

    async def _owner(self, session: GraphSession) -> Owner:
        """Return whose mailbox it is: asked once. By this the account's own words are known, and what is to it."""
        if self._own is None:
            answer = await session.get("/me", {"$select": "id,mail,proxyAddresses"})
            self._own = owner_of(answer, self.account, *self.addresses)
        return self._own
