"""What waits for an answer: the one definition, the same for every source (decision 57). Pure.

A message waits when its last word is another's, it is addressed to the account or came by a list that is watched,
and it is neither answered, done, set aside until later, flagged complete, over, cancelled, declined, nor bulk.
A source that does not report something lets it wait.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal

from orrery.ports.comms.messages import MailboxMessage

Reason = Literal[
    "done",
    "later",
    "over",
    "cancelled",
    "declined",
    "own",
    "answered",
    "earlier",
    "bulk",
    "not-to-you",
    "no-message",
]
"""Why a message does not wait."""

WORDS: Mapping[Reason, str] = {
    "answered": "answered",
    "bulk": "bulk",
    "not-to-you": "not to you",
    "earlier": "earlier in a listed conversation",
    "own": "your own",
    "over": "over",
    "cancelled": "cancelled",
    "declined": "declined",
    "no-message": "without a message",
    "later": "for later",
    "done": "done",
}
"""The reasons as a person reads them, in the order in which equal numbers of them are named."""


@dataclass(frozen=True, slots=True)
class SetAsideUntil:
    """That a person has set a row aside: until a day on which it comes back, or with None as done."""

    until: date | None = None

    @property
    def reason(self) -> Literal["done", "later"]:
        return "later" if self.until else "done"

    def holds(self, now: datetime) -> bool:
        """Return whether the row is still set aside: it comes back when its day begins on this machine."""
        return self.until is None or now.astimezone().date() < self.until


def own_reason_of(message: MailboxMessage, watched: frozenset[str]) -> Reason | None:
    """Return the first reason for which a message does not wait, from its own fields; None if it waits.

    `watched` are the ids and addresses of lists, in lower case.
    """
    standing = message.standing
    reasons: list[tuple[bool, Reason]] = [
        (standing.is_cancelled, "cancelled"),
        (standing.is_declined, "declined"),
        (standing.is_own, "own"),
        (standing.is_answered, "answered"),
        (standing.is_notice, "no-message"),
        (standing.is_complete, "done"),
    ]
    for holds, reason in reasons:
        if holds:
            return reason
    if is_watched(message, watched):
        return None
    if standing.is_bulk:
        return "bulk"
    return None if standing.addressed == "to" else "not-to-you"


def why_not(
    message: MailboxMessage, own_reason: Reason | None, now: datetime, aside: SetAsideUntil | None
) -> Reason | None:
    """Return why a message does not wait now: a person's word, then the time, then its own reason."""
    if aside is not None and aside.holds(now):
        return aside.reason
    return "over" if is_over(message, now) else own_reason


def is_over(message: MailboxMessage, now: datetime) -> bool:
    """Return whether a meeting is past its end, or past its day where the end is not known."""
    if message.source != "meeting":
        return False
    return now >= (message.ends_at or midnight_after(message.received_at))


def is_watched(message: MailboxMessage, watched: frozenset[str]) -> bool:
    """Return whether a message came by a list that is watched: its headers or its recipients name the list."""
    if not watched:
        return False
    named = (one.address.casefold() for one in (*message.to, *message.cc))
    return any(one in watched for one in (*message.standing.lists, *named))


def midnight_after(moment: datetime) -> datetime:
    """Return the end of a moment's day, by the calendar of this machine."""
    day = moment.astimezone().date() + timedelta(days=1)
    return datetime.combine(day, time()).astimezone()


@dataclass(frozen=True, slots=True)
class NotListed:
    """How many messages were read and do not wait, by reason, the most frequent first."""

    reasons: Mapping[Reason, int]

    @classmethod
    def of(cls, reasons: Iterable[Reason]) -> "NotListed":
        counted, places = Counter(reasons), [*WORDS]
        ordered = sorted(counted, key=lambda one: (-counted[one], places.index(one)))
        return cls({one: counted[one] for one in ordered})

    @property
    def count(self) -> int:
        return sum(self.reasons.values())

    def __str__(self) -> str:
        """The line "41 not listed: 20 answered, 12 bulk, 9 not to you"; empty when all are listed."""
        named = ", ".join(f"{count:,} {WORDS[reason]}" for reason, count in self.reasons.items())
        return f"{self.count:,} not listed: {named}" if named else ""
