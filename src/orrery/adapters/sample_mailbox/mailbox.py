"""The adapter: a mailbox of made-up messages."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from orrery.adapters.sample_mailbox.content import Content
from orrery.adapters.sample_mailbox.drafts import DraftFolder
from orrery.ports.clock import Clock
from orrery.ports.comms.errors import MailboxRefused
from orrery.ports.comms.mailboxes import MailboxDraft, MessageBatch, MessageBody, ReplyRequest
from orrery.ports.comms.messages import MailboxMessage, Person, Source
from orrery.syntax.track import Track

BATCH = 250


class SampleMailbox:
    """Messages of an account, made up again at each start; `messages` makes it larger than the file is.

    Drafts are kept in `folder`, one file each.
    """

    def __init__(self, account: str, track: Track, folder: Path, clock: Clock, messages: int = 0) -> None:
        self._account = account
        self._track: Track = track
        self._content = Content.of(account, track, clock.now(), messages)
        self._drafts = DraftFolder(folder)

    @property
    def track(self) -> Track:
        return self._track

    @property
    def account(self) -> str:
        return self._account

    @property
    def own_addresses(self) -> frozenset[str]:
        return frozenset({self._account.casefold()})

    @property
    def signs_in(self) -> bool:
        return False

    @property
    def caution(self) -> str:
        return ""

    def days_of(self, _: Source) -> int:
        """See `Mailbox`: all are listed."""
        return 0

    async def messages(self) -> AsyncGenerator[MessageBatch]:
        """Yield the messages, newest first."""
        content = self._content
        for first in range(0, content.count, BATCH):
            await asyncio.sleep(0)  # a large mailbox must not hold up everything else
            found = [content.message(each) for each in range(first, min(first + BATCH, content.count))]
            yield MessageBatch(found, written_to=() if first else content.written_to)

    async def body(self, source: Source, source_id: str) -> MessageBody:
        """Return the text of a message; raise `RowGone`."""
        await asyncio.sleep(0)
        return self._content.find(source, source_id)[1].body(self._content.start)

    async def draft(self, reply: ReplyRequest) -> MailboxDraft:
        """Return the draft with the key of `reply`, made now unless it is there; raise `RowGone`."""
        message, _ = self._content.find(reply.message.source, reply.message.source_id)
        if not reply.to:
            raise MailboxRefused("There is no address to reply to.")
        about = {"key": reply.key, "track": self._track, "from": self._account}
        is_new = await asyncio.to_thread(self._drafts.keep, reply.key, about | _written(reply, message))
        return MailboxDraft(reply.key, f"https://mail.example/drafts/{reply.key}", is_new)

    async def check(self) -> None:
        """Return when the folder of the drafts can be used: the messages are always there."""
        await asyncio.to_thread(self._drafts.check)

    def is_unread(self, source: Source, source_id: str) -> bool:
        """Return whether the message is marked as unread, which nothing here changes; raise `RowGone`."""
        return self._content.find(source, source_id)[1].unread


def _written(reply: ReplyRequest, message: MailboxMessage) -> dict[str, str]:
    """Return a draft as its file has it. A chat cannot be replied to by mail: its answer is a new mail."""
    answered = {} if message.source == "teams" else {"in_reply_to": message.source_id}
    named = {"to": _named(reply.to)} | ({"cc": _named(reply.cc)} if reply.cc else {})
    text = {"media_type": reply.text.media_type, "text": reply.text.content}
    return named | {"subject": _subject_of(message)} | text | answered


def _named(people: Iterable[Person]) -> str:
    return ", ".join(one.address for one in people)


def _subject_of(message: MailboxMessage) -> str:
    subject = " ".join(message.subject.split())
    is_reply = message.source == "teams" or subject.casefold().startswith("re:")
    return subject if is_reply else f"Re: {subject}"
