"""How intents are kept: each step is an entry of the log, and how far they have come is read from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from orrery.approvals.approval_log import UNSIGNED, ApprovalLog
from orrery.approvals.chain import BEGINNINGS, EntryKind, SignedStatement
from orrery.approvals.intents import Erased
from orrery.approvals.progress import IntentProgress, in_words, is_over, why_not_begun
from orrery.errors import ApprovalRefused, Invalid, NotFound, Overtaken, RecordUnreadable, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Conflict, Store, StoreEntry, Write
from orrery.runtime.collection import (
    FOR_EVER,
    Changes,
    Collection,
    StoredRecord,
    compare_and_set,
    parse,
    unreadable,
)
from orrery.runtime.operations import Intent

INTENT = "intent:"
STATE = "approval:"

_VOID = {"": "void", "proposed": "void", "approved": "void", "started": "unknown"}


@dataclass(frozen=True, slots=True)
class KnownIntent:
    """An intent with its state in the log, and the record beside the log.

    Without that record a restore has made the approval void; one that cannot be read is an error.
    """

    intent: Intent
    logged: IntentProgress | None
    kept: "Kept"

    @property
    def known(self) -> "Kept":
        """Return the record with the state in the log."""
        if not isinstance(self.kept, StoredRecord):
            return self.kept
        return replace(self.kept, record=self.kept.record.as_logged(self.logged)) if self.logged else None

    @property
    def progress(self) -> IntentProgress | None:
        """Return how far it has come, or None where it counts for nothing."""
        known = self.known
        return known.record if isinstance(known, StoredRecord) else None

    @property
    def damaged(self) -> RecordUnreadable | None:
        """Return why the record cannot be read."""
        return self.kept if isinstance(self.kept, RecordUnreadable) else None

    @property
    def why_void(self) -> str:
        """Return why it counts for nothing where `progress` is None."""
        return str(self.damaged) if self.damaged else "The approval is void: the store was restored since."

    @property
    def is_intact(self) -> bool:
        """Return whether the intent is unchanged since its proposal."""
        return self.progress is not None and self.progress.digest == self.intent.digest()

    def in_words(self, now: datetime) -> str:
        """Return its state in one or two words for a person."""
        if progress := self.progress:
            return in_words(progress, now)
        state = self.logged.state if self.logged else ""
        return _VOID.get(state, state)


Kept = StoredRecord[IntentProgress] | RecordUnreadable | None
"""The record beside the log; an error where it cannot be read, None where it is missing."""


class IntentStore:
    """Reads and erases intents, and stores each change of their progress."""

    def __init__(self, store: Store, clock: Clock, log: ApprovalLog) -> None:
        self._intents = Collection(store, clock, Intent, INTENT, life=FOR_EVER)
        self._erased = Collection(store, clock, Erased, INTENT, life=FOR_EVER)
        self._progress = Collection(store, clock, IntentProgress, STATE, life=FOR_EVER)
        self._log = log

    async def propose(self, intent: Intent, pushes: Sequence[Write]) -> None:
        """Store a new intent, in one commit with `pushes`; raise `StoreUnavailable` when its id is used."""
        progress = IntentProgress(intent_id=intent.id, digest=intent.digest(), changed_at=intent.proposed_at)
        writes = [self._progress.put(progress, intent.id), *pushes]
        stored = self._intents.changes(intent.id, None, intent) + Changes(writes)
        if not await self._log.append("proposed", intent, changes=stored):
            raise StoreUnavailable("The store holds this intent already; nothing was written.")

    async def proposal(self, intent_id: str) -> KnownIntent:
        """Return one intent and how far it has come; raise `NotFound` and `RecordUnreadable`."""
        try:
            found = await self._intents.get(intent_id)
        except RecordUnreadable:
            if await self._erased.find(intent_id):
                why = "This intent was erased; `orrery approvals log` shows its outcome."
                raise NotFound(why) from None
            raise
        if found is None:
            raise NotFound("There is no such intent; `orrery approvals list --all` shows those that there are.")
        if not _is_in_its_place(found):
            raise unreadable(self._intents.key(intent_id))
        return await self._read(found.record, await self._log.logged())

    async def proposals(self) -> list[KnownIntent]:
        """Return every intent that can be read, the newest first."""
        intents, logged = (await self._intents.all()).records, await self._log.logged()
        found = [await self._read(one.record, logged) for one in filter(_is_in_its_place, intents)]
        return sorted(found, key=lambda one: one.intent.proposed_at, reverse=True)

    async def unreadable(self) -> list[StoreEntry]:
        """Return the entries that are neither an intent nor an erased one, nor how far one has come."""
        intents = [entry async for entry in self._intents.entries() if not _holds_its_own(entry)]
        progress = [
            entry async for entry in self._progress.entries() if parse(IntentProgress, entry.value) is None
        ]
        return [*intents, *progress]

    async def erased(self) -> set[str]:
        """Return the ids of the intents that are erased."""
        return {one.id for one in filter(_is_in_its_place, (await self._erased.all()).records)}

    async def erase(self, intent_id: str, reason: str, now: datetime) -> None:
        """Erase the content of an intent; raise `Invalid` when it was altered, or may still be carried out."""

        async def attempt() -> Conflict | None:
            unchanged = await self._intents.unchanged(intent_id)
            proposal = await self.proposal(intent_id)
            known = proposal.known
            if isinstance(known, RecordUnreadable):
                raise Invalid(str(known))
            if known and not is_over(known.record, now):
                raise Invalid(f"It is {proposal.in_words(now)}: what comes of it must be known first.")
            if known and known.record.digest != proposal.intent.digest():
                raise Invalid("It was altered: see `orrery approvals verify`.")
            changes = Changes([self._erased.put(Erased(id=intent_id, erased_at=now), intent_id)], [unchanged])
            if known:
                changes += self._progress.changes(intent_id, known, known.record.without_notes())
            done = await self._log.append("erased", proposal.intent, reason, changes=changes)
            return None if done else _overtaken(changes)

        await compare_and_set(attempt, "The store is too busy to erase the intent.")

    async def advance(
        self,
        intent: Intent,
        kind: EntryKind,
        change: Callable[[IntentProgress], IntentProgress | None],
        *,
        note: str = "",
        target: str = "",
        signed: SignedStatement = UNSIGNED,
    ) -> IntentProgress:
        """Bring an intent one step on, in one commit with the log; None of `change` leaves it as it is."""

        async def attempt() -> IntentProgress | Conflict:
            # First the record, whose version is the fence, then the log: what is appended later breaks it.
            kept = await self._kept(intent.id)
            known = KnownIntent(intent, (await self._log.logged()).get(intent.id), kept).known
            if known is None:
                raise StoreUnavailable("The store was restored meanwhile: the outcome is not in the log.")
            if isinstance(known, RecordUnreadable):
                raise known
            # Asked after the record was read: an erasure writes that too, so that a later one breaks the fence.
            is_erased = await self._erased.find(intent.id) is not None
            if is_erased and kind in BEGINNINGS:
                raise Overtaken("The intent was erased meanwhile.")
            changed = change(known.record)
            if changed is None:
                return known.record
            if kind in BEGINNINGS and (why := await self._why_not_begun(known, target)):
                raise ApprovalRefused(f"The approval is used: {why}. Its record in the store was set back.")
            if is_erased:
                changed = changed.without_notes()
            fenced = self._progress.changes(intent.id, known, changed)
            done = await self._log.append(kind, intent, note, target=target, signed=signed, changes=fenced)
            return changed if done else _overtaken(fenced)

        return await compare_and_set(attempt, "The store is too busy to note how far the intent has come.")

    async def _why_not_begun(self, known: StoredRecord[IntentProgress], target: str) -> str:
        """Return why the whole log, which must hold, lets nothing begin, unless `known` was changed meanwhile."""
        why = why_not_begun((await self._log.proven()).get(known.id), target)
        now = await self._progress.find(known.id) if why else known
        return why if now and now.version == known.version else ""

    async def close_void(self, proposal: KnownIntent, reason: str) -> None:
        """Close an intent that was under way before a restore, unless it was changed meanwhile."""
        still_void = Changes(checks=[Absent(self._progress.key(proposal.intent.id))])
        if not await self._log.append("closed", proposal.intent, reason, changes=still_void):
            raise StoreUnavailable("The intent was changed meanwhile; nothing was written.")

    async def _read(self, intent: Intent, logged: Mapping[str, IntentProgress]) -> KnownIntent:
        return KnownIntent(intent, logged.get(intent.id), await self._kept(intent.id))

    async def _kept(self, intent_id: str) -> Kept:
        try:
            return await self._progress.get(intent_id)
        except RecordUnreadable as error:
            return error


def _overtaken(changes: Changes) -> Conflict:
    """Return what the log reports of changes in whose place another was first."""
    return Conflict(tuple(check.key for check in changes.checks))


def _is_in_its_place(found: StoredRecord[Intent] | StoredRecord[Erased]) -> bool:
    return found.id == found.record.id


def _holds_its_own(entry: StoreEntry) -> bool:
    found = parse(Intent, entry.value) or parse(Erased, entry.value)
    return found is not None and entry.key == f"{INTENT}{found.id}"
