"""The approval log: entries that each hold the hash of the one before (decision 15). Pure.

A person who remembers one hash can detect any entry before it that was changed, removed or inserted. An entry
about an approval contains the owner's signature, which no other person can make.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from orrery.record import Code, Id, Sealed, Sentence

START = "0" * 64
"""The previous hash in the first entry."""

SHORT = 16
"""How many digits of a hash a push contains."""

LONGEST_NOTE = 500

EntryKind = Literal[
    "proposed",
    "withdrawn",
    "refused",
    "approved",
    "started",
    "done",
    "failed",
    "unknown",
    "happened",
    "did not happen",
    "closed",
    "erased",
]
"""The kinds of entries. `unknown`: the answer was lost; a later entry has the result of a read, or that the
owner closed the intent. `erased`: the intent's content is erased; its state stays."""

HIDDEN = "[hidden]"
_PERSONAL = re.compile(
    r"\S+@\S+"  # an e-mail address
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w)"  # a network address
    r"|(?<![\w:])(?=[0-9a-f:]*:[0-9a-f]*:)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])",  # one of IPv6
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SignedStatement:
    """The owner's statement, its signature, and the fingerprint of the key. Empty: the owner signed nothing."""

    statement: str = ""
    signature: str = ""
    signer: str = ""


class LogEntry(Sealed):
    """One line of the log.

    `digest` is the intent's, `target` that of a standing approval's use, `note` a sentence without personal
    data; `statement`, `signature` and `signer` (the fingerprint of the key) are the owner's signed statement.
    """

    number: int
    at: datetime
    kind: EntryKind
    intent_id: Id
    operation: Code
    digest: Id
    target: Id = ""
    note: Sentence = ""
    statement: Sentence = ""
    signature: Id = ""
    signer: Code = ""
    previous: Id = START
    hash: Id = ""

    def expected_hash(self) -> str:
        """Return the hash over everything else in it."""
        return self.sha256(without=frozenset({"hash"}))

    @property
    def signed_statement(self) -> SignedStatement:
        """Return the owner's signed statement in it."""
        return SignedStatement(self.statement, self.signature, self.signer)

    @property
    def head(self) -> str:
        """Return the head of the log when this is its last entry, as a push contains it: `NUMBER:HASH`."""
        return f"{self.number}:{self.hash[:SHORT]}"


def following(last: LogEntry | None, entry: LogEntry) -> LogEntry:
    """Return `entry` as the one that follows `last`."""
    number, previous = (last.number + 1, last.hash) if last else (1, START)
    placed = entry.change(number=number, previous=previous)
    return placed.change(hash=placed.expected_hash())


def first_break(entries: Iterable[LogEntry | None]) -> int | None:
    """Return the number at which the chain no longer holds, or None when it holds from the first to the last.

    An entry is None when it cannot be read.
    """
    number, previous = 1, START
    for entry in entries:
        placed = (number, previous, entry.expected_hash()) if entry else None
        if entry is None or (entry.number, entry.previous, entry.hash) != placed:
            return number
        number, previous = number + 1, entry.hash
    return None


def broken_at(log: Sequence[LogEntry | None], head: LogEntry | None) -> int | None:
    """Return the first broken number of a log with the stored copy of its last entry."""
    return first_break(log) or _beyond(log[-1] if log else None, head)


def _beyond(last: LogEntry | None, head: LogEntry | None) -> int | None:
    """Return the number from which entries are missing at the end, or added beyond the stored last entry."""
    if last == head:
        return None
    numbers = [entry.number for entry in (last, head) if entry]
    return min(numbers) + 1 if len(numbers) > 1 and numbers[0] != numbers[1] else numbers[0]


BEGINNINGS: tuple[EntryKind, ...] = ("approved", "started")
"""The kinds of entries that contain a signed statement."""


def impersonal(note: str) -> str:
    """Return a note without e-mail and network addresses, and not too long."""
    return _PERSONAL.sub(HIDDEN, note)[:LONGEST_NOTE]
