"""What stands above a message's text: who wrote it to whom, what to look at, and whom an answer would go to."""

from dataclasses import dataclass
from datetime import datetime

from orrery.cockpit.answers import Recipients, newest_of, recipients_of
from orrery.cockpit.correspondents import Correspondents
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.rows import Row, is_replyable
from orrery.cockpit.sender_warnings import SenderWarning, warnings_of
from orrery.ports.comms.messages import Message, Person


@dataclass(frozen=True, slots=True)
class Answer:
    """Whom a draft would go to. `is_newer`: it answers a newer message of the conversation than the row's.

    `to_all` is None where it would go to the same people.
    """

    sender: Person
    received_at: datetime
    is_newer: bool
    recipients: Recipients
    to_all: Recipients | None
    warnings: list[SenderWarning]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a message; without an `answer` where nobody can be answered."""

    sender: Person
    to: tuple[Person, ...]
    cc: tuple[Person, ...]
    warnings: list[SenderWarning]
    answer: Answer | None


def head_of(row: Row, inbox: Inbox, known: Correspondents) -> Head:
    """Return the head of a row of this mailbox."""
    message = row.message
    answer = _answer(message, answered(row, inbox), known) if row.is_replyable else None
    return Head(_sender(message), message.to, message.cc, warnings_of(message, known), answer)


def ledger_head(row: Row) -> Head:
    """Return the head of an item of the action ledger, which is from whom it says, and to nobody."""
    return Head(_sender(row.message), (), (), [], None)


def answered(row: Row, inbox: Inbox) -> Message:
    """Return the message that a draft for this row answers (decision 65)."""
    return newest_of(row.message, (one.message for one in inbox.rows if is_replyable(one.message)))


def _answer(message: Message, newest: Message, known: Correspondents) -> Answer:
    alone = recipients_of(newest, known.own, to_all=False)
    to_all = recipients_of(newest, known.own, to_all=True)
    return Answer(
        _sender(newest),
        newest.received_at,
        newest is not message,
        alone,
        None if to_all == alone else to_all,
        warnings_of(newest, known),
    )


def _sender(message: Message) -> Person:
    return Person(message.sender, message.sender_address)
