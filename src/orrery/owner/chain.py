"""The approval log: entries that each hold the hash of the one before (decision 15). Pure.

Whoever remembers one hash can tell whether anything up to it was changed, taken out or put in.
"""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

START = "0" * 64
"""What the first entry holds as the hash before it."""

Kind = Literal[
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
]
"""What an entry tells. `unknown`: the processor's answer was lost; the last two: what reading has shown since."""


class LogEntry(BaseModel):
    """One line of the log.

    `digest` is the intent's, `target` what a standing approval was used for, `note` a sentence without personal
    data, `signer` the fingerprint of the owner's key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    number: int
    at: datetime
    kind: Kind
    intent_id: str
    operation: str
    digest: str
    target: str = ""
    note: str = ""
    signer: str = ""
    previous: str = START
    hash: str = ""

    def expected_hash(self) -> str:
        """Return the hash over everything else in it."""
        content = self.model_dump(mode="json", exclude={"hash"})
        return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def following(last: LogEntry | None, entry: LogEntry) -> LogEntry:
    """Return `entry` as the one that follows `last`."""
    number, previous = (last.number + 1, last.hash) if last else (1, START)
    placed = entry.model_copy(update={"number": number, "previous": previous})
    return placed.model_copy(update={"hash": placed.expected_hash()})


def first_break(entries: Iterable[LogEntry]) -> int | None:
    """Return the number at which the chain no longer holds, or None when it holds from the first to the last."""
    number, previous = 1, START
    for entry in entries:
        if (entry.number, entry.previous, entry.hash) != (number, previous, entry.expected_hash()):
            return number
        number, previous = number + 1, entry.hash
    return None
