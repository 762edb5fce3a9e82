"""One account's mail, chats and meetings, as a port. It has no call that sends anything (decision 36)."""

from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from orrery.ports.comms.messages import NO_PERSON, MailboxMessage, Person, Source
from orrery.syntax.track import Track


@dataclass(frozen=True, slots=True)
class MessageBatch:
    """Messages that came in one answer; `unreadable` counts those in it that are not as documented.

    `gone` are the source ids of messages that came earlier in the same reading, and have left the mailbox since.
    `written_to` are people to whom the owner wrote, as far as sent mail is read; each batch may have more of them.
    """

    messages: Sequence[MailboxMessage]
    unreadable: int = 0
    gone: frozenset[str] = frozenset()
    written_to: Collection[Person] = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part of a message that is named and never opened; `size` is in bytes, None where it is not known.

    `media_type` is in lower case, with the parameter `smime-type` where it has one.
    """

    name: str
    media_type: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Invitation:
    """A meeting as a message announces it: an invitation to one, a change, an answer.

    `method` is that of iTIP (RFC 5546), in lower case. `starts` and `ends` are in UTC, or as a clock shows them in
    `zone` where only its name is known; of a whole day they are midnights, and `ends` is the day after. `answers`
    are those of the invited people, in the words of iCalendar (RFC 5545, 3.2.12), in lower case.
    """

    method: str = ""
    summary: str = ""
    starts: datetime | None = None
    ends: datetime | None = None
    zone: str = ""
    is_all_day: bool = False
    place: str = ""
    organizer: Person = NO_PERSON
    answers: tuple[tuple[Person, str], ...] = ()


Trouble = Literal["charset", "encoding", "cut", "attachments"]
"""What could not be read unchanged: characters, a transfer encoding, what is too far behind, what is attached."""


@dataclass(frozen=True, slots=True)
class MessageBody:
    """The text of a message, decoded; mark-up is not yet removed. What else it has is named, and not opened.

    `attachments` are all its other parts, those that sign or encrypt it, too.
    """

    media_type: Literal["text/plain", "text/html"]
    content: str
    attachments: tuple[Attachment, ...] = ()
    invitation: Invitation | None = None
    troubles: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """A draft to be made. `key` is stored with it, and finds it again.

    It answers `message`: mail by a reply, a meeting by a reply to its organizer, a chat by a new mail to its
    sender (decision 35). It goes to `to` and `cc` and has `text`, in which the original is quoted already.
    `comment` is the text above that; `to_all`: it answers every person whom the message names.
    """

    key: str
    message: MailboxMessage
    to: tuple[Person, ...]
    cc: tuple[Person, ...]
    text: MessageBody
    comment: str = ""
    to_all: bool = False


@dataclass(frozen=True, slots=True)
class MailboxDraft:
    """A draft in the mailbox; `is_new` is False when an earlier call made it."""

    id: str
    web_link: str
    is_new: bool


class Mailbox(Protocol):
    """The mailbox of one account.

    Every call has a deadline and raises `MailboxUnreachable`, `MailboxRefused` or `SignInNeeded`.
    """

    @property
    def track(self) -> Track: ...

    @property
    def account(self) -> str:
        """The name of the account, unique in its track, such as an address."""
        ...

    @property
    def own_addresses(self) -> frozenset[str]:
        """The addresses by which mail reaches the account, in lower case, as far as they are known by now."""
        ...

    @property
    def signs_in(self) -> bool:
        """Whether a person can sign its account in from the cockpit."""
        ...

    @property
    def caution(self) -> str:
        """A sentence that the page shows beside this mailbox, such as that it has two locks only, or nothing."""
        ...

    def days_of(self, source: Source, /) -> int:
        """Return how many days back messages of this source are listed; 0 is all of them."""
        ...

    def messages(self) -> AsyncGenerator[MessageBatch]:
        """Yield what is there, in several batches, newest first within each source; mark nothing as read.

        It includes messages that do not wait, with the reason (`Standing`). Of a message that comes twice in one
        reading, the last counts.
        """
        ...

    async def body(self, source: Source, source_id: str) -> MessageBody:
        """Return the text of a message without marking it as read; raise `RowGone` when it is no longer there."""
        ...

    async def draft(self, reply: ReplyRequest) -> MailboxDraft:
        """Return the draft with the key of `reply`, made now unless it is there; the message stays unread.

        However often it is called with one key, and wherever an earlier call was killed, there is one draft.
        Raises `RowGone` when the message is no longer there.
        """
        ...

    async def check(self) -> None:
        """Return when the mailbox can be read."""
        ...


@dataclass(frozen=True, slots=True)
class Mailboxes:
    """The mailboxes that the settings name, in their order; no two have the same track and account."""

    all: Sequence[Mailbox]
