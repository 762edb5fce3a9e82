"""The messages of a made-up mailbox, from a file of the package; ages are counted from its opening."""

import re
import tomllib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import getaddresses
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from orrery.ports.comms.errors import RowGone
from orrery.ports.comms.mailboxes import Attachment, Invitation, MessageBody, Trouble
from orrery.ports.comms.messages import (
    NO_PERSON,
    UNKNOWN,
    MailboxMessage,
    Person,
    Priority,
    Source,
    Standing,
    people,
)
from orrery.syntax.track import Track

ROUND = timedelta(days=7)
"""How much older a repetition is. The messages of the file are closer together, so that the order stays."""

_FILES: dict[Track, str] = {"A": "corp.toml", "B": "lab.toml"}
_LINKS: dict[Source, str] = {
    "mail": "https://mail.example/messages/",
    "teams": "https://chat.example/messages/",
    "meeting": "https://calendar.example/events/",
}
_PREVIEW = 160
_EVERYBODY = ("Everybody", "everybody@")
_ID = re.compile(r"(?P<id>[a-z0-9-]+)(\.(?P<turn>[1-9][0-9]{0,5}))?")


class WrittenInvitation(BaseModel):
    """The meeting of a message; its beginning is `minutes` before the mailbox was opened."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = "request"
    summary: str
    minutes: int
    lasts: int = 60
    place: str = ""
    answers: tuple[tuple[str, str, str], ...] = ()

    def of(self, organizer: Person, start: datetime) -> Invitation:
        """Return it as a mailbox does; an answer is of a name and an address."""
        starts = start - timedelta(minutes=self.minutes)
        answers = tuple((Person(name, address), answer) for name, address, answer in self.answers)
        ends = starts + timedelta(minutes=self.lasts)
        invited = replace(Invitation(self.method, self.summary, starts, ends), place=self.place, answers=answers)
        return replace(invited, organizer=organizer if self.method != "reply" else NO_PERSON)


class Written(BaseModel):
    """A message as the file has it; `minutes` is its age, and below zero for what has not begun yet.

    `lasts` is how many minutes a meeting takes. `to`, `cc` and `reply_to` are written as in a header. The owner
    wrote to each sender but to one who `is_stranger`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    source: Literal["mail", "teams", "meeting"]
    sender: str
    address: str = ""
    subject: str
    minutes: int
    priority: Priority = "normal"
    unread: bool = False
    preview: str = ""
    link: str = ""
    text: str = ""
    html: str = ""
    to: str = ""
    cc: str = ""
    reply_to: str = ""
    is_stranger: bool = False
    attachments: tuple[Attachment, ...] = ()
    invitation: WrittenInvitation | None = None
    troubles: tuple[Trouble, ...] = ()
    lasts: int = 30
    conversation: str = ""
    standing: Standing = UNKNOWN

    def body(self, start: datetime) -> MessageBody:
        """Return the text as a mailbox returns it; `start` is when it was opened."""
        invited = self.invitation.of(Person(self.sender, self.address), start) if self.invitation else None
        kind = "text/html" if self.html else "text/plain"
        return MessageBody(kind, self.html or self.text, self.attachments, invited, self.troubles)


@dataclass(frozen=True, slots=True)
class Content:
    """`count` messages, the newest first: those of the file, and the same again, older and with a number."""

    account: str
    written: tuple[Written, ...]
    start: datetime
    count: int

    @classmethod
    def of(cls, account: str, track: Track, start: datetime, count: int) -> "Content":
        """Return the messages of a track; 0 is as many as the file has."""
        written = _written(track)
        return cls(account, written, start, count or len(written))

    def message(self, index: int) -> MailboxMessage:
        """Return a message by its place."""
        turn, place = divmod(index, len(self.written))
        one = self.written[place]
        source_id = f"{one.id}.{turn}" if turn else one.id
        received_at = self.start - timedelta(minutes=one.minutes) - turn * ROUND
        own = people(("Ann Lind", self.account))
        everybody = people((_EVERYBODY[0], _EVERYBODY[1] + self.account.partition("@")[2]))
        return MailboxMessage(
            source=one.source,
            source_id=source_id,
            sender=one.sender,
            address=next((each.address for each in _people(one.reply_to)), one.address),
            sender_address=one.address,
            to=(*(own if one.standing.addressed == "to" else everybody), *_people(one.to)),
            cc=(*(own if one.standing.addressed == "copy" else ()), *_people(one.cc)),
            reply_to=_people(one.reply_to),
            conversation=f"{one.conversation}.{turn}" if one.conversation else "",
            subject=f"{one.subject} ({turn + 1})" if turn else one.subject,
            preview=one.preview or " ".join(one.text.split())[:_PREVIEW],
            received_at=received_at,
            ends_at=received_at + timedelta(minutes=one.lasts) if one.source == "meeting" else None,
            standing=one.standing,
            priority=one.priority,
            web_link=one.link or _LINKS[one.source] + source_id,
        )

    @property
    def written_to(self) -> tuple[Person, ...]:
        """To whom the owner wrote."""
        known = (one for one in self.written if one.address and not one.is_stranger and not one.standing.is_bulk)
        return tuple({one.address: Person(one.sender, one.address) for one in known}.values())

    def find(self, source: Source, source_id: str) -> tuple[MailboxMessage, Written]:
        """Return a message and how the file has it; raise `RowGone`."""
        if parts := _ID.fullmatch(source_id):
            turn = int(parts["turn"] or 0)
            for place, one in enumerate(self.written):
                index = place + turn * len(self.written)
                if (one.source, one.id) == (source, parts["id"]) and index < self.count:
                    return self.message(index), one
        raise RowGone("This message is no longer in the mailbox.")


def _people(header: str) -> tuple[Person, ...]:
    return people(*getaddresses([header])) if header else ()


@cache
def _written(track: Track) -> tuple[Written, ...]:
    text = files("orrery.adapters.sample_mailbox").joinpath(_FILES[track]).read_text(encoding="utf-8")
    found = TypeAdapter(tuple[Written, ...]).validate_python(tomllib.loads(text)["messages"])
    return tuple(sorted(found, key=lambda one: one.minutes))
