"""The adapter: a mailbox of made-up messages."""

import asyncio
from collections.abc import AsyncGenerator
from html import escape
from pathlib import Path

from orrery.adapters.sample_mailbox.content import Content
from orrery.adapters.sample_mailbox.drafts import DraftFolder
from orrery.errors import MailboxRefused
from orrery.ports.clock import Clock
from orrery.ports.comms.mailboxes import Batch, Draft, MessageBody, Reply
from orrery.ports.comms.messages import Message, Source
from orrery.syntax.track import Track

BATCH = 250


class SampleMailbox:
    """Messages of an account, made up anew at each start; `messages` makes it larger than the file is.

    Drafts are kept in `folder`, one file each.
    """

    def __init__(self, account: str, track: Track, folder: Path, clock: Clock, messages: int = 0) -> None:
        self._account = account
        self._track: Track = track
        self._content = Content.of(track, clock.now(), messages)
        self._drafts = DraftFolder(folder)

    @property
    def track(self) -> Track:
        return self._track

    @property
    def account(self) -> str:
        return self._account

    @property
    def signs_in(self) -> bool:
        return False

    @property
    def caution(self) -> str:
        return ""

    async def messages(self) -> AsyncGenerator[Batch]:
        """Yield the messages, newest first."""
        content = self._content
        for first in range(0, content.count, BATCH):
            await asyncio.sleep(0)  # a large mailbox must not hold up everything else
            yield Batch([content.message(each) for each in range(first, min(first + BATCH, content.count))])

    async def body(self, source: Source, source_id: str) -> MessageBody:
        """Return the text of a message; raise `RowGone`."""
        await asyncio.sleep(0)
        return self._content.find(source, source_id)[1].body

    async def draft(self, reply: Reply) -> Draft:
        """Return the draft with the key of `reply`, made now unless it is there; raise `RowGone`."""
        message, written = self._content.find(reply.message.source, reply.message.source_id)
        if not message.address:
            raise MailboxRefused("There is no address to reply to.")
        about = {"key": reply.key, "track": self._track}
        draft = _written_reply(self.account, message, written.body, reply.comment) | about
        is_new = await asyncio.to_thread(self._drafts.keep, reply.key, draft)
        return Draft(reply.key, f"https://mail.example/drafts/{reply.key}", is_new)

    async def check(self) -> None:
        """Return when the folder of the drafts can be used: the messages are always there."""
        await asyncio.to_thread(self._drafts.check)

    def is_unread(self, source: Source, source_id: str) -> bool:
        """Return whether the message is marked as unread, which nothing here changes; raise `RowGone`."""
        return self._content.find(source, source_id)[1].unread


def _written_reply(account: str, message: Message, original: MessageBody, comment: str) -> dict[str, str]:
    """Return the draft of a reply: in mark-up where the original is, the original quoted below the comment."""
    intro = f"On {message.received_at:%Y-%m-%d at %H:%M UTC}, {message.sender} wrote:"
    if original.media_type == "text/html":
        text = f"<p>{escape(comment)}</p>\n<p>{escape(intro)}</p>\n<blockquote>{original.content}</blockquote>\n"
    else:
        quoted = "\n".join(f"> {line}".rstrip() for line in original.content.splitlines())
        text = f"{comment}\n\n{intro}\n{quoted}\n"
    # A chat cannot be replied to by mail: its answer is a new mail to its sender.
    answered = {} if message.source == "teams" else {"in_reply_to": message.source_id}
    return {
        "from": account,
        "to": message.address,
        "subject": _subject_of(message),
        "media_type": original.media_type,
        "text": text,
        **answered,
    }


def _subject_of(message: Message) -> str:
    subject = " ".join(message.subject.split())
    is_reply = message.source == "teams" or subject.casefold().startswith("re:")
    return subject if is_reply else f"Re: {subject}"
