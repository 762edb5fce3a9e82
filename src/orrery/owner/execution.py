"""Carrying out approved intents, and finding out their outcomes.

An operation without an answer is settled by reading, never by a second try, which could make the change twice.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from orrery.errors import (
    Invalid,
    NotConfigured,
    OrreryError,
    PartlyDone,
    ProcessorError,
    ProcessorRefused,
    ProcessorUnreachable,
)
from orrery.owner.intent_store import IntentStore
from orrery.owner.intents import Intent
from orrery.owner.progress import UNDER_WAY, Progress, UseState, is_open, may_be_under_way
from orrery.ports.clock import Clock

HAPPENED = "No answer is known; reading shows that it happened."
NOTHING = "No answer is known; reading shows nothing of it."

NOT_YET = "The answer was lost; reading shows nothing of it so far."

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\[\]-]")

ReadResult = Literal["unknown", "happened", "did not happen", "failed"]
"""What a read at the processor can show; `failed`: only one of two parts of the change was made."""

_FOUND: dict[ReadResult, UseState] = {
    "unknown": "unknown",
    "happened": "done",
    "did not happen": "failed",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of change. `perform` and `happened` take the intent and the target.

    `perform` makes the change by one call to the processor and returns a sentence without personal data; each of
    its errors, except `ProcessorUnreachable`, means that nothing was changed. `happened` reads whether the change
    was made. Where the change takes two calls, both raise `PartlyDone` when only one of them was made. An
    operation with `covers` takes standing approvals: `covers` returns whether one includes a target.
    """

    name: str
    perform: Callable[[Intent, str], Awaitable[str]]
    happened: Callable[[Intent, str], Awaitable[bool]]
    covers: Callable[[Intent, str], Awaitable[bool]] | None = None


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
        """Read at the processor whether the change was made."""
        return await self.operation.happened(self.intent, self.target or self.intent.target)


class Executor:
    """Carries operations out, and settles those without an outcome."""

    def __init__(self, clock: Clock, intents: IntentStore) -> None:
        self._clock = clock
        self._intents = intents

    async def carry_out(self, call: OperationCall) -> tuple[Progress, OrreryError | None]:
        """Make the change, note its outcome, and return the progress with the error, if any."""
        try:
            note = await call.perform()
        except ProcessorUnreachable as error:
            return await self._after_a_lost_answer(call, error)
        except (ProcessorRefused, PartlyDone, NotConfigured, Invalid) as error:
            return await self._end(call, "failed", str(error), logged=_refusal(error)), error
        return await self._end(call, "done", note), None

    async def _after_a_lost_answer(
        self, call: OperationCall, lost: ProcessorUnreachable
    ) -> tuple[Progress, OrreryError | None]:
        """Settle by reading, if possible; a request without any answer may still arrive at the processor."""
        try:
            happened = await call.happened()
        except PartlyDone as part:
            return await self._found(call, "unknown", str(part)), lost
        except (ProcessorError, NotConfigured) as error:
            note = f"Neither the answer nor a look came: {error}"
            return await self._found(call, "unknown", note, logged=_refusal(error)), lost
        if happened:
            return await self._found(call, "happened", HAPPENED), None
        if lost.status is None or lost.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return await self._found(call, "unknown", NOT_YET), lost
        return await self._found(call, "did not happen", NOTHING), lost

    async def settle(self, call: OperationCall, progress: Progress) -> Progress:
        """Read the outcome; raise `Invalid` while the operation may be under way, and the processor's errors."""
        known = progress.of_target(call.target)
        if known and may_be_under_way(known, self._clock.now()):
            raise Invalid(f"It may still be under way; ask again in {UNDER_WAY.seconds} s.")
        try:
            happened = await call.happened()
        except PartlyDone as part:
            return await self._found(call, "failed", str(part))
        if happened:
            return await self._found(call, "happened", HAPPENED)
        return await self._found(call, "did not happen", NOTHING)

    async def _end(
        self, call: OperationCall, kind: Literal["done", "failed"], note: str, *, logged: str = ""
    ) -> Progress:
        """Note the processor's answer, also when another process noted an outcome meanwhile."""
        now = self._clock.now()
        return await self._intents.advance(
            call.intent,
            kind,
            lambda progress: progress.after(call.target, kind, now, note),
            note=logged or note,
            target=call.target,
        )

    async def _found(self, call: OperationCall, kind: ReadResult, note: str, *, logged: str = "") -> Progress:
        """Note what the read has shown, unless the answer or another read was noted meanwhile."""
        state = _FOUND[kind]

        def found(progress: Progress) -> Progress | None:
            if not is_open(progress.of_target(call.target)):
                return None
            return progress.after(call.target, state, self._clock.now(), note)

        return await self._intents.advance(call.intent, kind, found, note=logged or note, target=call.target)


def _refusal(error: OrreryError) -> str:
    """Return an error for the log without the processor's own sentence, which may contain personal data."""
    if not isinstance(error, ProcessorRefused):
        return str(error)
    named = {"status": error.status, "code": error.code, "parameter": error.param}
    details = ", ".join(f"{name} {_NOT_A_NAME.sub('', str(value))[:80]}" for name, value in named.items() if value)
    return f"The processor refused it ({details})."
