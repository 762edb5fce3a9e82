"""Changes that need the owner's approval: the intent that is signed, and the operation that carries it out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import JsonValue

from orrery.record import Code, Id, Personal, PersonalText, Sealed


class Intent(Sealed):
    """One change that needs the owner's approval. The intent itself never changes.

    `body` is sent, `before` has the values at the proposal, `summary` is one line for a person.
    `deployment` is where it was proposed: an approval counts nowhere else. `salt` is random: once it is erased,
    the digest cannot be tried against addresses.
    """

    id: Id
    operation: Code
    target: PersonalText
    body: Annotated[dict[str, JsonValue], Personal]
    before: Annotated[dict[str, JsonValue], Personal] | None = None
    summary: PersonalText
    reason: PersonalText
    deployment: Id
    proposed_by: Literal["owner", "software"]
    proposed_at: datetime
    salt: Id = ""

    def digest(self) -> str:
        """Return the SHA-256 of everything in it, in hexadecimal digits."""
        # An intent that was signed before there was a salt keeps its signed digest.
        return self.sha256(without=frozenset() if self.salt else frozenset({"salt"}))


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of change. `perform` and `happened` take the intent and the target.

    `perform` makes the change by one call and returns a sentence without personal data. It raises
    `OperationUnanswered` without an answer; its other errors, `OperationRefused`, `NotConfigured` and `Invalid`,
    mean that nothing was changed. `happened` reads whether the change was made. Where the change takes two calls,
    both raise `PartlyDone` when only one of them was made. An operation with `covers` takes standing approvals:
    `covers` returns whether one includes a target. `remains` names the places that keep personal data it has sent.
    """

    name: str
    perform: Callable[[Intent, str], Awaitable[str]]
    happened: Callable[[Intent, str], Awaitable[bool]]
    covers: Callable[[Intent, str], Awaitable[bool]] | None = None
    remains: str = ""
