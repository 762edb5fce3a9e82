"""The sessions at the processor: asking for one, and expiring one after an approval (change rule 4)."""

import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from orrery.approvals.approvals import Approvals, IntentDraft, Operation
from orrery.checkout.access.lookup import note_expired
from orrery.checkout.collections import CheckoutRecords
from orrery.errors import StoreError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.processor import (
    CheckoutSession,
    Parameters,
    Processor,
    ProcessorRefused,
    ProcessorUnreachable,
    ProcessorWrites,
)
from orrery.runtime.operations import Intent

TRIES = 2
"""How often one session is asked for at most (issue: at most 2 tries and 10 s in all)."""

PAUSE = 0.2
"""Seconds between an answer that is none, such as a 409 or 429, and the next try."""

EXPIRE_SESSION = "expire-session"
"""Expires the one session that is the intent's target."""

EXPIRE_PREFLIGHT_SESSIONS = "expire-preflight-sessions"
"""A standing approval: expires exactly the sessions recorded under the run that is the intent's target."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What the processor is asked for.

    `renew` is given an idempotency key of no more use, and returns the one that is stored in its place. `in_use`
    is given one under which another request goes on, and returns, after a while, the one to ask with.
    """

    parameters: Parameters
    api_version: str
    renew: Callable[[str], Awaitable[str]]
    in_use: Callable[[str], Awaitable[str]] | None = None


async def ask_for_session(
    processor: Processor,
    clock: Clock,
    asked: SessionRequest,
    key: str,
    *,
    seconds: float,
    is_late: Callable[[CheckoutSession], bool] | None = None,
) -> CheckoutSession:
    """Return the session under `key`, or under a new one where the processor would repeat what is of no use.

    That is a 5xx, which the processor stores under its key, and a session that `is_late` refuses. `seconds` are
    those of all tries. Raises `ProcessorRefused` and `ProcessorUnreachable`.
    """
    end = clock.monotonic() + seconds
    for tries_left in reversed(range(TRIES)):
        try:
            session = await processor.create_session(
                asked.parameters,
                idempotency_key=key,
                deadline=(end - clock.monotonic()) / (tries_left + 1),
                api_version=asked.api_version,
            )
            if not (tries_left and is_late and is_late(session)):
                return session
            key = await asked.renew(key)
        except ProcessorRefused as error:
            log.warning(
                "processor refused", status=error.status, kind=error.kind, code=error.code, param=error.param
            )
            raise
        except ProcessorUnreachable as error:
            log.warning("processor unreachable", status=error.status, tries_left=tries_left, why=str(error))
            if not error.same_key:
                key = await asked.renew(key)
            if not tries_left:
                raise
            if asked.in_use and error.status == HTTPStatus.CONFLICT:
                key = await asked.in_use(key)
            else:
                await clock.sleep(PAUSE if error.status else 0)
    raise AssertionError("unreachable: the last try returns or raises")


class Expiry:
    """Expires sessions. A session expires once, so a repeat does no harm: the processor refuses it."""

    def __init__(
        self, stored: CheckoutRecords, processor: Processor, writes: ProcessorWrites, approvals: Approvals
    ) -> None:
        self._stored = stored
        self._processor = processor
        self._writes = writes
        self._approvals = approvals

    def operations(self) -> list[Operation]:
        return [
            Operation(EXPIRE_SESSION, self.perform, self.happened),
            Operation(EXPIRE_PREFLIGHT_SESSIONS, self.perform, self.happened, self.covers),
        ]

    async def propose(self, session_id: str, reason: str, by: Literal["owner", "software"]) -> Intent:
        """Return the intent to expire one session: the one that waits already, or a new one."""
        for proposal in await self._approvals.proposals():
            intent = proposal.intent
            is_same = (intent.operation, intent.target) == (EXPIRE_SESSION, session_id)
            if is_same and not proposal.is_void and proposal.progress.state == "proposed":
                return intent
        summary = f"Expire the open session {session_id}"
        return await self._approvals.propose(IntentDraft(EXPIRE_SESSION, session_id, {}, summary, reason, by=by))

    async def perform(self, intent: Intent, target: str) -> str:
        """Expire the session; raise the processor's errors."""
        # A new key for each try: the processor stores a 5xx under its key, and would repeat it to the next try.
        key = f"orrery-{intent.id}-{secrets.token_hex(8)}"
        _ = await self._writes.expire_session(target, idempotency_key=key)
        await self._note_expired(target)
        return "The session is expired."

    async def happened(self, intent: Intent, target: str) -> bool:
        """Return whether the session is expired."""
        del intent
        is_expired = (await self._processor.get_session(target)).status == "expired"
        if is_expired:
            await self._note_expired(target)
        return is_expired

    async def _note_expired(self, session_id: str) -> None:
        with suppress(StoreError):  # reconciliation notes it, too
            await note_expired(self._stored.offers, session_id)

    async def covers(self, intent: Intent, target: str) -> bool:
        """Return whether the session is this run's own."""
        return await self.is_own(intent.target, target)

    async def is_own(self, run_id: str, session_id: str) -> bool:
        """Return whether the session was recorded under a preflight's run, and offered to no visitor.

        The record alone proves nothing: anyone who can write the store can invent one. A person who also deletes
        the offer has broken the visitor's sale, which needs no approval.
        """
        if await self._stored.offers.entry(session_id):
            return False
        found = await self._stored.own_sessions.find(session_id)
        return found is not None and found.record.made_by == "preflight" and found.record.run_id == run_id
