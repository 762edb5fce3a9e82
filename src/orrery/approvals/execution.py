"""Carrying out approved intents, and finding out their outcomes.

An operation without an answer is settled by reading, never by a second try, which could make the change twice.
"""

from dataclasses import dataclass
from typing import Literal

from orrery.approvals.intent_store import IntentStore
from orrery.approvals.progress import UNDER_WAY, IntentProgress, is_open, may_be_under_way
from orrery.errors import (
    Invalid,
    NotConfigured,
    OperationFailed,
    OperationRefused,
    OperationUnanswered,
    OrreryError,
    PartlyDone,
)
from orrery.ports.clock import Clock
from orrery.runtime.operations import Intent, Operation

HAPPENED = "No answer is known; reading shows that it happened."
NOTHING = "No answer is known; reading shows nothing of it."

NOT_YET = "The answer was lost; reading shows nothing of it so far."

OutcomeKind = Literal["done", "failed", "unknown", "happened", "did not happen"]
"""`done`, `failed`: the answer. A read shows the others, and `failed` where only one of two parts was made."""


@dataclass(frozen=True, slots=True)
class OperationCall:
    """An intent that is carried out, or with a `target` one use of a standing approval."""

    operation: Operation
    intent: Intent
    target: str = ""

    async def perform(self) -> str:
        """Make the change."""
        return await self.operation.perform(self.intent, self.target or self.intent.target)

    async def happened(self) -> bool:
        """Read whether the change was made."""
        return await self.operation.happened(self.intent, self.target or self.intent.target)


class Executor:
    """Carries operations out, and settles those without an outcome."""

    def __init__(self, clock: Clock, intents: IntentStore) -> None:
        self._clock = clock
        self._intents = intents

    async def carry_out(self, call: OperationCall) -> tuple[IntentProgress, OrreryError | None]:
        """Make the change, note its outcome, and return the progress with the error, if any."""
        try:
            note = await call.perform()
        except OperationUnanswered as error:
            return await self._after_a_lost_answer(call, error)
        except (OperationRefused, PartlyDone, NotConfigured, Invalid) as error:
            logged = error.permanent_sentence()
            return await self._found(call, "failed", str(error), logged=logged, answered=True), error
        return await self._found(call, "done", note, answered=True), None

    async def _after_a_lost_answer(
        self, call: OperationCall, lost: OperationUnanswered
    ) -> tuple[IntentProgress, OrreryError | None]:
        """Settle by reading, if possible; a request without any answer may still arrive."""
        try:
            happened = await call.happened()
        except PartlyDone as part:
            return await self._found(call, "unknown", str(part)), lost
        except (OperationFailed, NotConfigured) as error:
            note = f"Neither the answer nor a look came: {error}"
            return await self._found(call, "unknown", note, logged=error.permanent_sentence()), lost
        if happened:
            return await self._found(call, "happened", HAPPENED), None
        if lost.may_arrive:
            return await self._found(call, "unknown", NOT_YET), lost
        return await self._found(call, "did not happen", NOTHING), lost

    async def settle(self, call: OperationCall, progress: IntentProgress) -> IntentProgress:
        """Read the outcome; raise `Invalid` while the operation may be under way, and the operation's errors."""
        _ = self.may_be_noted(call.target, progress)
        try:
            happened = await call.happened()
        except PartlyDone as part:
            return await self._found(call, "failed", str(part))
        if happened:
            return await self._found(call, "happened", HAPPENED)
        return await self._found(call, "did not happen", NOTHING)

    def may_be_noted(self, target: str, progress: IntentProgress) -> bool:
        """Return whether the outcome of a target is missing; raise `Invalid` while it may be under way."""
        known = progress.of_target(target)
        if known and is_open(known) and may_be_under_way(known, self._clock.now()):
            raise Invalid(f"It may still be under way; ask again in {UNDER_WAY.seconds} s.")
        return is_open(known)

    async def _found(
        self, call: OperationCall, kind: OutcomeKind, note: str, *, logged: str = "", answered: bool = False
    ) -> IntentProgress:
        """Note the answer; or what a read has shown, unless an answer or another read was noted meanwhile."""

        def is_wanted(progress: IntentProgress) -> bool:
            return answered or is_open(progress.of_target(call.target))

        return await self._intents.advance(
            call.intent, kind, is_wanted, note=note, logged=logged, target=call.target
        )
