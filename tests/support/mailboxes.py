"""A mailbox in memory that does as a test tells it: an adapter of the port."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from anyio.lowlevel import checkpoint

from orrery.cockpit.answers import Recipients, quoted, recipients_of
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import MailboxDraft, MessageBatch, MessageBody, ReplyRequest
from orrery.ports.comms.messages import MailboxMessage, Person, Priority, Source
from orrery.syntax.track import Track
from tests.support.clock import START

LOST = MailboxUnreachable("The answer was lost.")


def a_message(
    number: int = 1, source: Source = "mail", priority: Priority = "normal", source_id: str = ""
) -> MailboxMessage:
    """Return a message; a higher number is an older one."""
    return MailboxMessage(
        source=source,
        source_id=source_id or f"{source}-{number}",
        sender=f"Sender {number}",
        address=f"sender{number}@corp.example",
        subject=f"Subject {number}",
        preview=f"Preview {number}",
        received_at=START - timedelta(minutes=number),
        priority=priority,
        web_link=f"https://mail.example/{source}-{number}",
    )


def without_address(message: MailboxMessage) -> MailboxMessage:
    """Return the same message from a sender who cannot be replied to."""
    return replace(message, address="")


@dataclass(slots=True)
class ScriptedMailbox:
    """Lists `held`, which a test changes at will, `batch` messages at a time.

    Every call waits until `gate` is open, and then raises the next of `troubles`, or `broken` for as long as that
    is there. A listing hangs behind `hangs_after` batches, raises `breaks_with` behind `breaks_after`, has
    `unreadable` messages in its first batch, and takes those of `gone` back in the end. With `lose_answers` so
    many drafts are made and then fail. `bodies` by id go before the text that every message has. `calls` are
    what was asked, `listings` how many listings are under way.
    """

    track: Track = "A"
    account: str = "ann@corp.example"
    held: list[MailboxMessage] = field(default_factory=list[MailboxMessage])
    written_to: list[Person] = field(default_factory=list[Person])
    bodies: dict[str, MessageBody] = field(default_factory=dict[str, MessageBody])
    batch: int = 100
    unreadable: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    troubles: list[Exception] = field(default_factory=list[Exception])
    broken: Exception | None = None
    hangs_after: int | None = None
    breaks_after: int | None = None
    breaks_with: Exception = LOST
    lose_answers: int = 0
    calls: list[str] = field(default_factory=list[str])
    listings: int = 0
    drafts: dict[str, ReplyRequest] = field(default_factory=dict[str, ReplyRequest])
    unread: set[str] = field(default_factory=set[str])
    days: int = 0
    gone: frozenset[str] = frozenset()
    signs_in: bool = False
    caution: str = ""

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def own_addresses(self) -> frozenset[str]:
        return frozenset({self.account})

    def days_of(self, _: Source) -> int:
        """Return how many days back messages are listed."""
        return self.days

    async def messages(self) -> AsyncGenerator[MessageBatch]:
        """Yield what is held."""
        self.listings += 1
        try:
            await self._asked("messages")
            sent = 0
            for sent, several in enumerate(batches(self.held, self.batch), 1):
                await self._behind(sent - 1)
                first = sent == 1
                yield MessageBatch(
                    several, self.unreadable if first else 0, written_to=self.written_to if first else ()
                )
            if self.gone:
                yield MessageBatch((), gone=self.gone)
            await self._behind(sent)
        finally:
            self.listings -= 1

    async def body(self, source: Source, source_id: str) -> MessageBody:
        """Return the text of a message."""
        await self._asked(f"body {source_id}")
        self._require(source, source_id)
        return self.bodies.get(source_id) or MessageBody("text/plain", f"Text of {source_id}")

    async def draft(self, reply: ReplyRequest) -> MailboxDraft:
        """Return the draft of this key, made now unless it is there."""
        await self._asked(f"draft {reply.key}")
        self._require(reply.message.source, reply.message.source_id)
        if not reply.to:
            raise MailboxRefused("There is no address to reply to.")
        is_new = reply.key not in self.drafts
        if is_new:
            self.drafts[reply.key] = reply
        if self.lose_answers:
            self.lose_answers -= 1
            raise LOST
        return MailboxDraft(f"draft-{reply.key}", f"https://mail.example/drafts/{reply.key}", is_new)

    async def check(self) -> None:
        """Return when the mailbox can be read."""
        await self._asked("check")

    def asked(self, call: str) -> int:
        """Return how often it was asked for this: `messages`, `check`, `body` or `draft`."""
        return sum(one.split()[0] == call for one in self.calls)

    async def _asked(self, call: str) -> None:
        self.calls.append(call)
        await checkpoint()
        await self.gate.wait()
        if self.troubles:
            raise self.troubles.pop(0)
        if self.broken:
            raise self.broken

    async def _behind(self, sent: int) -> None:
        await checkpoint()
        if self.hangs_after == sent:
            await asyncio.Event().wait()
        if self.breaks_after == sent:
            raise self.breaks_with

    def _require(self, source: Source, source_id: str) -> None:
        if not any((one.source, one.source_id) == (source, source_id) for one in self.held):
            raise RowGone("This message is no longer in the mailbox.")


PLAIN = MessageBody("text/plain", "Is noon well?\n")


def reply_to(
    key: str,
    message: MailboxMessage,
    comment: str = "",
    original: MessageBody = PLAIN,
    *,
    to_all: bool = False,
    own: Iterable[str] = (),
) -> ReplyRequest:
    """Return the draft that the cockpit would make of a message with this text."""
    found = recipients_of(message, own, to_all=to_all) if message.address else Recipients(())
    return ReplyRequest(key, message, found.to, found.cc, quoted(message, original, comment), comment, to_all)


def batches(messages: list[MailboxMessage], size: int) -> list[list[MailboxMessage]]:
    """Return the messages, so many at a time, as they are now."""
    return [messages[first : first + size] for first in range(0, len(messages), size)]
