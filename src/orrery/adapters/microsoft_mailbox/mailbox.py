"""One account at Microsoft Graph as a mailbox; see `Mailbox`."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.chats import chat_batches, chat_body
from orrery.adapters.microsoft_mailbox.client import GraphClient, GraphSession, segment
from orrery.adapters.microsoft_mailbox.drafts import Drafts, Turns
from orrery.adapters.microsoft_mailbox.mail import MOST_OF_DAYS, MailFolder
from orrery.adapters.microsoft_mailbox.meetings import meeting_batches
from orrery.adapters.microsoft_mailbox.shapes import Body
from orrery.errors import MailboxError, MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.comms.mailboxes import Batch, Draft, MessageBody, Reply
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
    turns: Turns = field(default_factory=Turns)
    _own_id: str = field(default="", init=False)

    @property
    def account(self) -> str:
        return self.client.account

    @property
    def signs_in(self) -> bool:
        return True

    @property
    def caution(self) -> str:
        if not self.folder.is_cut:
            return ""
        return f"Only the newest {MOST_OF_DAYS:,} messages are listed: set `days` of this mailbox to 0 for all."

    async def messages(self) -> AsyncGenerator[Batch]:
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
                kind = "messages" if source == "mail" else "events"
                answer = await session.get(f"/me/{kind}/{segment(source_id)}", {"$select": "body"})
                found = Body.model_validate(answer.get("body"))
            except ValidationError:
                raise MailboxUnreachable("The message is not as documented.") from None
        is_html = (found.content_type or "").lower() == "html"
        return MessageBody("text/html" if is_html else "text/plain", found.content or "")

    async def draft(self, reply: Reply) -> Draft:
        """See `Mailbox`."""
        async with self.client.session() as session:
            return await Drafts(session, self.client.clock.now(), self.turns).draft(reply)

    async def check(self) -> None:
        """See `Mailbox`."""
        async with self.client.session() as session:
            _ = await session.get("/me", {"$select": "id"})

    async def _batches(self, part: Part, session: GraphSession) -> AsyncGenerator[Batch]:
        now = self.client.clock.now()
        if part == "mail":
            batches = self.folder.batches(session, now)
        elif part == "teams":
            batches = chat_batches(session, await self._id(session), now - CHAT_DAYS)
        else:
            batches = meeting_batches(session, self.account, now)
        async for batch in batches:
            yield batch

    async def _id(self, session: GraphSession) -> str:
        """Return the account's own id, by which its own words in a chat are known."""
        if not self._own_id:
            found: Any = (await session.get("/me", {"$select": "id"})).get("id")
            if not isinstance(found, str):
                raise MailboxUnreachable("The mailbox does not say whose it is.")
            self._own_id = found
        return self._own_id
