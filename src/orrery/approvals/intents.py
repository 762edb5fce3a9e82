"""The owner's statements about intents (decision 15): pure.

An intent describes a change at the processor. The owner approves it by signing a statement, which names
the intent, the digest of everything in it, and the time:

    orrery approval 1
    intent in-5d0c3e9a1f22
    digest sha256:7f83…
    at 2026-11-21T12:00:00Z
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from orrery.errors import ApprovalRefused
from orrery.record import Id, Record

NAMESPACE = "orrery-approval"
"""The namespace of the signature: a signature for another purpose does not count here."""

_STATEMENT = re.compile(
    r"orrery approval 1\nintent (?P<intent>in-[0-9a-f]{12})\ndigest sha256:(?P<digest>[0-9a-f]{64})\n"
    r"at (?P<at>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)\n"
)


class Erased(Record):
    """The rest of an intent whose content was erased; it cannot be signed or carried out.

    Its digest, the owner's signed statement and its outcome stay in the log.
    """

    id: Id
    erased_at: datetime


@dataclass(frozen=True, slots=True)
class Statement:
    """The text that the owner signs."""

    intent_id: str
    digest: str
    at: datetime

    def to_bytes(self) -> bytes:
        """Return the text that is signed."""
        at = self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return f"orrery approval 1\nintent {self.intent_id}\ndigest sha256:{self.digest}\nat {at}\n".encode()


def read_statement(text: str) -> Statement:
    """Return the statement in a text; raise `ApprovalRefused` when it is none, to the byte."""
    found = _STATEMENT.fullmatch(text)
    try:
        at = datetime.strptime(found["at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if found else None
    except ValueError:
        at = None
    if found is None or at is None:
        raise ApprovalRefused("This is no statement of an approval, or it was altered.")
    return Statement(found["intent"], found["digest"], at)
