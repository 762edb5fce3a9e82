"""Nothing is changed at a vendor without the owner's signature (change rule 4, decision 15).

Each step of an intent (see `progress`) is one commit with its entry in the log, so the log is complete wherever a
process is killed. An operation that was started and has no outcome is settled by reading, never by a second try.
"""

import json
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from pydantic import JsonValue

from orrery.approvals.approval_log import HEAD, TOO_BUSY, ApprovalLog
from orrery.approvals.audit import AuditResult, PushedHead, audit
from orrery.approvals.chain import SignedStatement
from orrery.approvals.execution import Executor, OperationCall
from orrery.approvals.intent_store import VOID, IntentStore, KnownIntent
from orrery.approvals.intents import Statement, read_statement
from orrery.approvals.progress import (
    AHEAD,
    LIFETIME,
    STANDING_LIFETIME,
    IntentProgress,
    IntentState,
    is_open,
)
from orrery.approvals.waiting import panel_of
from orrery.errors import ApprovalRefused, Invalid, Overtaken, RecordUnreadable
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.panels import Panel
from orrery.ports.signatures import Signatures
from orrery.ports.store import Conflict, Store, StoreEntry, Write
from orrery.runtime import outbox
from orrery.runtime.collection import compare_and_set, unreadable
from orrery.runtime.operations import Intent, Operation
from orrery.syntax.reason import normal_reason

_NEWEST = 500
"""How many entries of the log the owner's page reads at most."""


@dataclass(frozen=True, slots=True)
class IntentDraft:
    """A proposed change. `body` will be sent; `before` is the present value."""

    operation: str
    target: str
    body: Mapping[str, JsonValue]
    summary: str
    reason: str
    before: Mapping[str, JsonValue] | None = None
    by: Literal["owner", "software"] = "owner"


class Approvals:
    """Proposes intents, checks the owner's signatures, carries approved intents out, and keeps the log."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        signatures: Signatures,
        *,
        deployment: str,
        forbidden: Sequence[str] = (),
    ) -> None:
        """`deployment` identifies this deployment; `forbidden` are the secrets, which no intent may contain."""
        self.log = ApprovalLog(store, clock)
        self._intents = IntentStore(store, clock, self.log)
        self._executor = Executor(clock, self._intents)
        self._clock = clock
        self._signatures = signatures
        self._operations: dict[str, Operation] = {}
        self.deployment = deployment
        self._forbidden = forbidden

    def allow(self, *operations: Operation) -> None:
        """Register the operations that intents may name; every other one is refused."""
        self._operations |= {one.name: one for one in operations}

    def remains(self, operation: str) -> str:
        """Return where personal data stay that an operation has sent, in a sentence, or nothing."""
        known = self._operations.get(operation)
        return known.remains if known else ""

    async def propose(self, draft: IntentDraft) -> Intent:
        """Store an intent for the owner to sign; raise `Invalid` without a reason or with a secret in it."""
        reason, now = normal_reason(draft.reason), self._clock.now()
        intent = Intent(
            id=f"in-{secrets.token_hex(6)}",
            operation=self._operations[draft.operation].name,
            target=draft.target,
            body=dict(draft.body),
            before=None if draft.before is None else dict(draft.before),
            summary=draft.summary,
            reason=reason,
            deployment=self.deployment,
            proposed_by=draft.by,
            proposed_at=now,
            salt=secrets.token_hex(16),
        )
        self._refuse_secrets(intent)
        await self._intents.propose(intent, _queued(intent, now))
        return intent

    async def proposal(self, intent_id: str) -> KnownIntent:
        """Return one intent with its progress; raise `NotFound` and `RecordUnreadable`."""
        return await self._intents.proposal(intent_id)

    async def proposals(self) -> list[KnownIntent]:
        """Return every intent that can be read, the newest first."""
        return await self._intents.proposals()

    async def unreadable(self) -> list[StoreEntry]:
        """Return the unreadable entries of the intents and their progress: altered, cut, or of a newer version."""
        return await self._intents.unreadable()

    async def unreadable_records(self) -> list[RecordUnreadable]:
        """Return why some intents cannot be read; the log has a separate check."""
        return [unreadable(entry.key) for entry in await self.unreadable()]

    async def panel(self) -> Panel:
        """Return the panel of the owner's page: the intents that wait for approval, and the newest entries."""
        now = self._clock.now()
        found = [(one.in_words(now), one.intent) for one in await self.proposals()]
        return panel_of(found, await self.log.newest(_NEWEST), now, unreadable=len(await self.unreadable()))

    def statement(self, intent: Intent) -> Statement:
        """Return the statement that approves an intent at this time."""
        return Statement(intent.id, intent.digest(), self._clock.now())

    def is_standing(self, intent: Intent) -> bool:
        """Return whether its approval is a standing one: then signing it carries nothing out."""
        operation = self._operations.get(intent.operation)
        return operation is not None and operation.covers is not None

    async def sign(self, intent_id: str, statement: bytes, signature: bytes) -> IntentProgress:
        """Check the owner's signature; carry the intent out, or put a standing approval in force.

        Raises `ApprovalRefused` (which is in the log), `NotFound` and `NotConfigured`.
        """
        proposal = await self.proposal(intent_id)
        async with self._logging_refusals(proposal.intent):
            call = OperationCall(self._operation(proposal.intent), proposal.intent)
            signed = await self._checked(proposal, _text(statement), _text(signature))
            kind: Literal["approved", "started"] = "approved" if call.operation.covers else "started"
            progress = await self._intents.advance(call.intent, kind, signed=signed)
        if kind == "started":
            progress, _ = await self._executor.carry_out(call)
        return progress

    async def use(self, intent_id: str, target: str) -> str:
        """Make one change that a standing approval covers, and return a sentence about it.

        An earlier use that has no outcome is settled first. Raises `ApprovalRefused` (which is in the log),
        `Invalid` while that use may still be under way, and the operation's errors.
        """
        proposal = await self.proposal(intent_id)
        async with self._logging_refusals(proposal.intent, target):
            call = OperationCall(self._operation(proposal.intent), proposal.intent, target)
            signed = await self._checked_use(proposal, call)
            if is_open(proposal.progress.of_target(target)):
                settled = (await self._executor.settle(call, proposal.progress)).uses[target]
                if settled.state == "done":
                    return settled.note
            _ = await self._intents.advance(call.intent, "started", target=target, signed=signed)
        progress, error = await self._executor.carry_out(call)
        if error:
            raise error
        return progress.uses[target].note

    async def is_in_force(self, intent_id: str) -> bool:
        """Return whether a standing approval is in force: the owner's, unaltered, not withdrawn and not over.

        Raises `StoreUnavailable` when the log does not hold.
        """
        try:
            _ = await self._checked_standing(await self.proposal(intent_id))
        except ApprovalRefused:
            return False
        _ = await self.log.proven()
        return True

    async def settle(self, intent_id: str) -> IntentProgress:
        """Read the missing outcomes of an intent.

        Raises `Invalid` when the outcomes are known or the operation may still be under way, and the operation's
        errors.
        """
        proposal = await self._open(intent_id, "settle")
        if not proposal.is_intact:
            raise Invalid("The intent was altered: a read could only show the outcome of something else.")
        operation, progress = self._operation(proposal.intent), proposal.progress
        for target in progress.open_targets():
            progress = await self._executor.settle(OperationCall(operation, proposal.intent, target), progress)
        return progress

    async def close(self, intent_id: str, reason: str) -> None:
        """Note the owner's decision to leave an outcome unknown; nothing is read or carried out.

        Raises `Invalid` when the outcome is known, the operation may still be under way, or the reason is empty.
        """
        cause, proposal = normal_reason(reason), await self._open(intent_id, "close")
        for target in proposal.progress.open_targets():
            closing = partial(self._executor.may_be_noted, target)
            _ = await self._intents.advance(proposal.intent, "closed", closing, note=cause, target=target)

    async def withdraw(self, intent_id: str) -> IntentProgress:
        """Withdraw an intent that is not signed, or end a standing approval; raise `Invalid` otherwise."""
        proposal = await self.proposal(intent_id)
        if proposal.is_void:
            raise Invalid(VOID)

        def is_held(progress: IntentProgress) -> bool:
            if progress.state not in ("proposed", "approved"):
                raise Invalid(f"Only what waits or is in force can be withdrawn; this is {progress.state}.")
            return True

        return await self._intents.advance(proposal.intent, "withdrawn", is_held)

    async def erase(self, intent_id: str, reason: str) -> None:
        """Erase the content of an intent at a person's request; its digest and its outcome stay in the log.

        Raises `Invalid` while the intent may still be carried out, when it was altered, or without a reason, and
        `NotFound`.
        """
        await self._intents.erase(intent_id, normal_reason(reason), self._clock.now())

    async def verify(
        self, remembered: PushedHead | None = None, signatures: Signatures | None = None
    ) -> AuditResult:
        """Check the whole log, the owner's signatures in it, and every intent.

        `remembered` is a head from an earlier push; `signatures` may know keys that are no longer in use.
        """
        checks = signatures or self._signatures

        async def attempt() -> AuditResult | Conflict:
            entries, head = await self.log.whole()
            proposals, erased = await self.proposals(), await self._intents.erased()
            if head != await self.log.head():
                return Conflict((HEAD,))
            return await audit(entries, head, proposals, erased, checks, remembered)

        return await compare_and_set(attempt, TOO_BUSY)

    async def finding(self) -> Finding:
        """Return whether the chain of the log is unbroken; signatures and intents are not checked."""
        broken = await self.log.broken_at()
        if broken is None:
            return Finding("approval log", "ok", essential=True)
        todo = "Run `orrery approvals verify`, and find out who can write the store."
        return Finding("approval log", "broken", f"It does not hold from entry {broken} on.", todo, essential=True)

    def _operation(self, intent: Intent) -> Operation:
        operation = self._operations.get(intent.operation)
        if operation is None:
            raise ApprovalRefused(f"The operation {intent.operation} is none that this version carries out.")
        return operation

    def _refuse_secrets(self, intent: Intent) -> None:
        """Raise `Invalid` when a secret of this deployment is in the intent."""
        try:
            stored = intent.to_bytes()
        except ValueError:
            raise Invalid("The intent holds text that is not valid Unicode.") from None
        if any(json.dumps(secret, ensure_ascii=False)[1:-1].encode() in stored for secret in self._forbidden):
            raise Invalid("The intent holds a secret of this deployment.")

    async def _checked(
        self,
        proposal: KnownIntent,
        statement: str,
        signature: str,
        *,
        state: IntentState = "proposed",
        lifetime: timedelta = LIFETIME,
    ) -> SignedStatement:
        """Return the owner's signed statement on this intent; raise `ApprovalRefused` when it does not count."""
        stated, intent, progress = read_statement(statement), proposal.intent, proposal.progress
        if stated.intent_id != intent.id or intent.deployment != self.deployment:
            raise ApprovalRefused("The approval is foreign: it is for another intent or another deployment.")
        if proposal.is_void:
            raise ApprovalRefused(VOID)
        if not stated.digest == intent.digest() == progress.digest:
            raise ApprovalRefused("The intent was altered: it is not what was signed.")
        if intent.model_extra:
            raise ApprovalRefused("A newer version wrote this intent, with more in it than this version knows.")
        if progress.state != state:
            raise ApprovalRefused(f"The approval is used: the intent is {progress.state}.")
        age = self._clock.now() - stated.at
        if age < -AHEAD:
            raise ApprovalRefused("The approval is from the future: one of the two clocks is wrong.")
        if age > lifetime:
            raise ApprovalRefused(
                f"The approval has expired: it counts for {lifetime.total_seconds() / 60:g} min."
            )
        signer = await self._signatures.check(statement.encode(), signature.encode())
        return SignedStatement(statement, signature, signer)

    async def _checked_standing(self, proposal: KnownIntent) -> SignedStatement:
        """Return the owner's signed statement of a standing approval in force, or raise `ApprovalRefused`."""
        given = proposal.progress.statement, proposal.progress.signature
        return await self._checked(proposal, *given, state="approved", lifetime=STANDING_LIFETIME)

    async def _checked_use(self, proposal: KnownIntent, call: OperationCall) -> SignedStatement:
        """Return the owner's signed statement that covers a target, or raise `ApprovalRefused`."""
        covers = call.operation.covers
        if covers is None or not call.target:
            raise ApprovalRefused("There is no standing approval of that name.")
        signed = await self._checked_standing(proposal)
        if not await covers(call.intent, call.target):
            raise ApprovalRefused("The approval does not cover this target.")
        return signed

    async def _open(self, intent_id: str, what: str) -> KnownIntent:
        """Return an intent with a missing outcome; raise `Invalid` when no outcome is missing."""
        proposal = await self.proposal(intent_id)
        if not proposal.progress.open_targets():
            raise Invalid(f"There is nothing to {what}: the intent is {proposal.in_words(self._clock.now())}.")
        return proposal

    @asynccontextmanager
    async def _logging_refusals(self, intent: Intent, target: str = "") -> AsyncGenerator[None]:
        """Log a refusal; without a push when only another process was faster with a valid approval."""
        try:
            yield
        except ApprovalRefused as error:
            quiet = isinstance(error, Overtaken)
            await self.log.append("refused", intent, str(error), target=target, quiet=quiet)
            raise


def _text(given: bytes) -> str:
    """Return the text of a statement or a signature; raise `ApprovalRefused` when it is none."""
    try:
        return given.decode("ascii")
    except UnicodeDecodeError:
        raise ApprovalRefused("An approval is plain text; this one is not.") from None


def _queued(intent: Intent, now: datetime) -> list[Write]:
    """Return the writes that enqueue a push about an intent that software proposed."""
    if intent.proposed_by == "owner":
        return []
    body = f"{intent.operation}: see `orrery approvals show {intent.id}`."
    draft = outbox.OutboxDraft(
        id=f"queued-{intent.id}", channel="push", title="Waits for your approval", body=body
    )
    return outbox.enqueue([draft], now)
