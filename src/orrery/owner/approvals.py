"""Nothing is written at the processor without the owner's word (change rule 4, decision 15).

    proposed ──signed──▶ started ──▶ done | failed
       │                    └──answer lost, or killed──▶ unknown ──read──▶ happened | did not happen
       └──withdrawn

A standing approval (a preflight's) is `approved` instead, for 24 hours, and covers the targets recorded under it.
Each step is one commit with its entry in the log: the log tells what is known, wherever a process is killed.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import structlog
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from orrery.errors import (
    ApprovalRefused,
    Invalid,
    NotConfigured,
    NotFound,
    ProcessorError,
    ProcessorRefused,
    ProcessorUnreachable,
    StoreUnavailable,
)
from orrery.owner import outbox
from orrery.owner.approval_log import ApprovalLog
from orrery.owner.chain import Kind, LogEntry, first_break
from orrery.owner.intents import Intent, Statement, read_statement
from orrery.ports.clock import Clock
from orrery.ports.signatures import Signatures
from orrery.ports.store import Absent, Entry, Put, Store, Unchanged, Write

LIFETIME = timedelta(minutes=10)
"""How long a signature counts (decision 15)."""

STANDING = timedelta(hours=24)
"""How long a preflight's approval covers its sessions (decision 15)."""

AHEAD = timedelta(seconds=60)
"""How far the signing machine's clock may be ahead of ours."""

UNDER_WAY = timedelta(minutes=2)
"""How long something that was started may still be under way: longer than any call to the processor takes."""

INTENT = "intent:"
STATE = "approval:"

_ROUNDS = 20
_LONGEST_REASON = 500

State = Literal["proposed", "withdrawn", "approved", "started", "done", "failed", "unknown"]

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of change. `perform` and `happened` take the intent and the target.

    `perform` makes the change and returns a sentence about it; `happened` reads whether it was made. An operation
    with `covers` takes standing approvals: it tells which further targets one is good for.
    """

    name: str
    perform: Callable[[Intent, str], Awaitable[str]]
    happened: Callable[[Intent, str], Awaitable[bool]]
    covers: Callable[[Intent, str], Awaitable[bool]] | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What is proposed. `body` is what will be sent, `before` what stands there now."""

    operation: str
    target: str
    body: Mapping[str, JsonValue]
    summary: str
    reason: str
    before: Mapping[str, JsonValue] | None = None
    by: Literal["owner", "software"] = "owner"


class Progress(BaseModel):
    """How far an intent has come; `note` is the last word about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    intent_id: str
    digest: str
    state: State = "proposed"
    changed_at: datetime
    note: str = ""
    statement: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An intent and how far it has come. None: the approval was made void by a restore."""

    intent: Intent
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class Verified:
    """What a look through the whole log has shown. `broken_at` is the first number that does not hold."""

    entries: int
    head: str
    broken_at: int | None
    altered: tuple[str, ...]
    """The intents that are no longer what the log says was proposed."""


class Approvals:
    """Proposes, checks the owner's signature, carries out, and keeps the log."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        signatures: Signatures,
        *,
        deployment: str,
        forbidden: Sequence[str] = (),
    ) -> None:
        """`deployment` tells this one from every other; `forbidden` are texts that no intent may hold: secrets."""
        self.log = ApprovalLog(store, clock)
        self._store = store
        self._clock = clock
        self._signatures = signatures
        self._operations: dict[str, Operation] = {}
        self._deployment = deployment
        self._forbidden = forbidden

    def allow(self, *operations: Operation) -> None:
        """Let these be proposed and carried out; everything else stays impossible."""
        self._operations |= {one.name: one for one in operations}

    async def propose(self, draft: Draft) -> Intent:
        """Keep what is to be done until the owner signs; raise `Invalid` without a reason, or with a secret."""
        operation = self._operations[draft.operation]
        if not draft.reason.strip() or len(draft.reason) > _LONGEST_REASON:
            raise Invalid(f"A reason of 1 to {_LONGEST_REASON} characters is needed.")
        now = self._clock.now()
        intent = Intent(
            id=f"in-{secrets.token_hex(6)}",
            operation=operation.name,
            target=draft.target,
            body=dict(draft.body),
            before=None if draft.before is None else dict(draft.before),
            summary=draft.summary,
            reason=draft.reason,
            deployment=self._deployment,
            proposed_by=draft.by,
            proposed_at=now,
        )
        stored = intent.model_dump_json().encode()
        if any(secret.encode() in stored for secret in self._forbidden):
            raise Invalid("The intent holds a secret of this deployment.")
        progress = Progress(intent_id=intent.id, digest=intent.digest(), changed_at=now)
        writes = [Put(_intent_key(intent.id), stored), _put(progress), *_queued(intent, now)]
        await self.log.append("proposed", intent, writes=writes, checks=[Absent(_intent_key(intent.id))])
        return intent

    async def proposal(self, intent_id: str) -> Proposal:
        """Return one intent and how far it has come; raise `NotFound`."""
        entry = await self._store.get(_intent_key(intent_id))
        intent = _intent(entry) if entry else None
        if intent is None:
            raise NotFound("There is no such intent.")
        known = await self._known(intent_id)
        return Proposal(intent, known[1] if known else None)

    async def proposals(self) -> list[Proposal]:
        """Return every intent, the newest first."""
        found: list[Proposal] = []
        after = None
        while page := await self._store.scan(INTENT, after=after):
            after = page[-1].key
            found += [await self.proposal(entry.key.removeprefix(INTENT)) for entry in page if _intent(entry)]
        return sorted(found, key=lambda one: one.intent.proposed_at, reverse=True)

    def statement(self, intent: Intent) -> Statement:
        """Return what the owner is to sign now."""
        return Statement(intent.id, intent.digest(), self._clock.now())

    async def sign(self, intent_id: str, statement: bytes, signature: bytes) -> Progress:
        """Check the owner's signature; carry the intent out, or let a standing approval begin.

        Raises `ApprovalRefused` (which is in the log), `NotFound` and `NotConfigured`.
        """
        proposal = await self.proposal(intent_id)
        signer = await self._refusing(proposal.intent, self._signer(proposal, statement, signature, LIFETIME))
        operation = self._operations[proposal.intent.operation]
        signed = {"statement": statement.decode(), "signature": signature.decode("ascii", "replace")}
        if operation.covers:
            return await self._step(proposal, "approved", "approved", signer=signer, **signed)
        await self._step(proposal, "started", "started", signer=signer, **signed)
        return await self._carry_out(operation, proposal)

    async def use(self, intent_id: str, target: str) -> str:
        """Make one change that a standing approval covers, and return a sentence about it.

        Raises `ApprovalRefused` (which is in the log) and the processor's errors.
        """
        proposal = await self.proposal(intent_id)
        signer = await self._refusing(proposal.intent, self._standing(proposal, target), target)
        operation, intent = self._operations[proposal.intent.operation], proposal.intent
        await self.log.append("started", intent, target=target, signer=signer)
        try:
            note = await operation.perform(intent, target)
        except (ProcessorError, NotConfigured) as error:
            kind = "unknown" if isinstance(error, ProcessorUnreachable) else "failed"
            await self.log.append(kind, intent, str(error), target=target)
            raise
        await self.log.append("done", intent, note, target=target)
        return note

    async def settle(self, intent_id: str) -> Progress:
        """Read what became of an intent whose outcome is not known; raise `Invalid` when it is known."""
        proposal = await self.proposal(intent_id)
        progress = proposal.progress
        if progress is None or progress.state not in ("started", "unknown"):
            raise Invalid("What became of this intent is known.")
        if progress.state == "started" and self._clock.now() - progress.changed_at < UNDER_WAY:
            raise Invalid(f"It may still be under way; ask again in {UNDER_WAY.seconds} s.")
        return await self._read_back(self._operations[proposal.intent.operation], proposal)

    async def withdraw(self, intent_id: str) -> Progress:
        """Take back an intent that nobody has signed."""
        proposal = await self.proposal(intent_id)
        if proposal.progress is None or proposal.progress.state != "proposed":
            raise Invalid("Only what waits for a signature can be withdrawn.")
        return await self._step(proposal, "withdrawn", "withdrawn")

    async def verify(self) -> Verified:
        """Look through the whole log, and at every intent that it names."""
        entries = [entry async for entry in self.log.entries()]
        proposed = [one for one in entries if one.kind == "proposed"]
        altered = [one.intent_id for one in proposed if not await self._is_as_proposed(one)]
        broken = first_break(entries) or await self.log.missing_after(entries[-1] if entries else None)
        return Verified(len(entries), entries[-1].hash if entries else "", broken, tuple(altered))

    async def _is_as_proposed(self, entry: LogEntry) -> bool:
        stored = await self._store.get(_intent_key(entry.intent_id))
        intent = _intent(stored) if stored else None
        return intent is not None and intent.digest() == entry.digest

    async def _signer(
        self,
        proposal: Proposal,
        statement: bytes,
        signature: bytes,
        lifetime: timedelta,
        state: State = "proposed",
    ) -> str:
        """Return the key that approved this intent, or raise `ApprovalRefused` saying why it does not count."""
        said, intent, progress = read_statement(statement), proposal.intent, proposal.progress
        if said.intent_id != intent.id or intent.deployment != self._deployment:
            raise ApprovalRefused("The approval is foreign: it is for another intent or another deployment.")
        if progress is None:
            raise ApprovalRefused("The approval is void: the store was restored since.")
        if not said.digest == intent.digest() == progress.digest:
            raise ApprovalRefused("The intent was altered: it is not what was signed.")
        if progress.state != state:
            raise ApprovalRefused(f"The approval is used: the intent is {progress.state}.")
        if not -AHEAD <= self._clock.now() - said.at <= lifetime:
            raise ApprovalRefused(
                f"The approval has expired: it counts for {lifetime.total_seconds() / 60:g} minutes."
            )
        return await self._signatures.check(statement, signature)

    async def _standing(self, proposal: Proposal, target: str) -> str:
        progress, operation = proposal.progress, self._operations[proposal.intent.operation]
        if progress is None or operation.covers is None:
            raise ApprovalRefused("There is no standing approval of that name.")
        statement, signature = progress.statement.encode(), progress.signature.encode()
        signer = await self._signer(proposal, statement, signature, STANDING, "approved")
        if not await operation.covers(proposal.intent, target):
            raise ApprovalRefused("The approval does not cover this target.")
        return signer

    async def _refusing(self, intent: Intent, checked: Awaitable[str], target: str = "") -> str:
        """Return the signer that a check returns; log its refusal."""
        try:
            return await checked
        except ApprovalRefused as error:
            await self.log.append("refused", intent, str(error), target=target)
            raise

    async def _carry_out(self, operation: Operation, proposal: Proposal) -> Progress:
        try:
            note = await operation.perform(proposal.intent, proposal.intent.target)
        except (ProcessorRefused, NotConfigured) as error:
            return await self._end(proposal, "failed", "failed", str(error))
        except ProcessorError as error:
            logger.warning("outcome unknown", intent=proposal.intent.id, why=str(error))
            return await self._read_back(operation, proposal)
        return await self._end(proposal, "done", "done", note)

    async def _read_back(self, operation: Operation, proposal: Proposal) -> Progress:
        """Settle by reading what is not known: repeating it could do it twice."""
        try:
            happened = await operation.happened(proposal.intent, proposal.intent.target)
        except ProcessorError as error:
            return await self._end(proposal, "unknown", "unknown", f"Neither the answer nor a look came: {error}")
        if happened:
            return await self._end(
                proposal, "happened", "done", "The answer was lost; reading shows that it happened."
            )
        return await self._end(
            proposal, "did not happen", "failed", "The answer was lost; reading shows nothing of it."
        )

    async def _end(self, proposal: Proposal, kind: Kind, state: State, note: str) -> Progress:
        """Note the outcome of what was started, whoever else looks at it meanwhile."""
        for _ in range(_ROUNDS):
            known = await self._known(proposal.intent.id)
            if known is None:
                raise StoreUnavailable("The store was restored while the intent was carried out.")
            entry, progress = known
            changed = progress.model_copy(update={"state": state, "changed_at": self._clock.now(), "note": note})
            unchanged = Unchanged(entry.key, entry.version)
            if await self.log.append(kind, proposal.intent, note, writes=[_put(changed)], checks=[unchanged]):
                return changed
        raise StoreUnavailable("The store is too busy to note the outcome; settle the intent.")

    async def _step(self, proposal: Proposal, kind: Kind, state: State, **kept: str) -> Progress:
        """Bring an intent one step on; raise `ApprovalRefused` when another process was first."""
        intent, known = proposal.intent, await self._known(proposal.intent.id)
        if known is None or known[1] != proposal.progress:
            raise await self._used(intent)
        entry, progress = known
        signer = kept.pop("signer", "")
        changed = progress.model_copy(update={"state": state, "changed_at": self._clock.now(), **kept})
        unchanged = Unchanged(entry.key, entry.version)
        if not await self.log.append(kind, intent, signer=signer, writes=[_put(changed)], checks=[unchanged]):
            raise await self._used(intent)
        return changed

    async def _used(self, intent: Intent) -> ApprovalRefused:
        refusal = ApprovalRefused("The approval is used: another process was first.")
        await self.log.append("refused", intent, str(refusal))
        return refusal

    async def _known(self, intent_id: str) -> tuple[Entry, Progress] | None:
        entry = await self._store.get(f"{STATE}{intent_id}")
        return (entry, Progress.model_validate_json(entry.value)) if entry else None


def _queued(intent: Intent, now: datetime) -> list[Write]:
    """Return the writes that tell the owner of what software would like to do."""
    if intent.proposed_by == "owner":
        return []
    body = f"{intent.operation}: see `orrery approvals show {intent.id}`."
    draft = outbox.Draft(id=f"queued-{intent.id}", channel="push", title="Waits for your word", body=body)
    return outbox.enqueue([draft], now)


def _intent(entry: Entry) -> Intent | None:
    """Return the intent in an entry, or None when it can not be read: altered, or of a newer version."""
    try:
        return Intent.model_validate_json(entry.value)
    except ValidationError:
        return None


def _intent_key(intent_id: str) -> str:
    return f"{INTENT}{intent_id}"


def _put(progress: Progress) -> Put:
    return Put(f"{STATE}{progress.intent_id}", progress.model_dump_json().encode())
