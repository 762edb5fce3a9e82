"""How intents are kept: each step is an entry of the log, and how far they have come is read from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from orrery.approvals.approval_log import UNSIGNED, ApprovalLog
from orrery.approvals.chain import BEGINNINGS, EntryKind, LogEntry, SignedStatement
from orrery.approvals.intents import Erased
from orrery.approvals.progress import IntentProgress, followed, in_words, why_not_begun
from orrery.errors import ApprovalRefused, Invalid, NotFound, Overtaken, RecordUnreadable
from orrery.ports.clock import Clock
from orrery.ports.store import Delete, Store, StoreEntry, Write
from orrery.runtime.collection import FOR_EVER, Changes, Collection, StoredRecord, parse, unreadable
from orrery.runtime.operations import Intent

INTENT = "intent:"
STATE = "approval:"

VOID = "The approval is void: the store was restored since, or its record cannot be read: see `orrery doctor`."


@dataclass(frozen=True, slots=True)
class KnownIntent:
    """An intent, with how far it has come by the log, and the notes of the record beside that.

    `is_void`: nothing can begin, because a restore has deleted that record, because it cannot be read, or because
    the log has no proposal of the intent.
    """

    intent: Intent
    progress: IntentProgress
    is_void: bool

    @property
    def is_intact(self) -> bool:
        """Return whether the intent is unchanged since its proposal."""
        return self.progress.digest == self.intent.digest()

    def in_words(self, now: datetime) -> str:
        """Return its state in one or two words for a person."""
        if self.is_void:
            return "unknown" if self.progress.open_targets() else "void"
        return in_words(self.progress, now)

    def is_over(self, now: datetime) -> bool:
        """Return whether the intent can no longer be carried out and no outcome is missing."""
        return not self.progress.open_targets() and self.in_words(now) not in ("waiting", "in force")


class IntentStore:
    """Reads and erases intents, and stores each change of their progress."""

    def __init__(self, store: Store, clock: Clock, log: ApprovalLog) -> None:
        self._intents = Collection(store, clock, Intent, INTENT, life=FOR_EVER)
        self._erased = Collection(store, clock, Erased, INTENT, life=FOR_EVER)
        self._progress = Collection(store, clock, IntentProgress, STATE, life=FOR_EVER)
        self._log = log

    async def propose(self, intent: Intent, pushes: Sequence[Write]) -> None:
        """Store a new intent, in one commit with `pushes`."""
        progress = IntentProgress(intent_id=intent.id, digest=intent.digest(), changed_at=intent.proposed_at)
        stored = self._intents.changes(intent.id, None, intent)
        stored += self._progress.changes(intent.id, None, progress) + Changes(pushes)

        async def as_proposed(_: LogEntry) -> Changes:
            return stored

        await self._log.append("proposed", intent, changes=as_proposed)

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
        return await self._known(found.record, await self._log.logged())

    async def proposals(self) -> list[KnownIntent]:
        """Return every intent that can be read, the newest first."""
        intents, logged = (await self._intents.all()).records, await self._log.logged()
        found = [await self._known(one.record, logged) for one in filter(_is_in_its_place, intents)]
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
        """Erase the content of an intent, and the record beside the log.

        Raises `Invalid` when the intent was altered or may still be carried out, or that record cannot be read.
        """
        found = await self.proposal(intent_id)

        async def over(_: LogEntry) -> Changes:
            unchanged = [await self._intents.unchanged(intent_id), await self._progress.unchanged(intent_id)]
            record = await self._progress.entry(intent_id)
            if record and parse(IntentProgress, record.value) is None:
                raise Invalid(str(unreadable(record.key)))
            known = await self.proposal(intent_id)
            if not known.is_over(now):
                raise Invalid(f"It is {known.in_words(now)}: what comes of it must be known first.")
            if not known.is_void and not known.is_intact:
                raise Invalid("It was altered: see `orrery approvals verify`.")
            erased = self._erased.put(Erased(id=intent_id, erased_at=now), intent_id)
            return Changes([erased, Delete(self._progress.key(intent_id))], unchanged)

        await self._log.append("erased", found.intent, reason, changes=over)

    async def advance(
        self,
        intent: Intent,
        kind: EntryKind,
        permit: Callable[[IntentProgress], bool] = lambda _: True,
        *,
        note: str = "",
        logged: str = "",
        target: str = "",
        signed: SignedStatement = UNSIGNED,
    ) -> IntentProgress:
        """Bring an intent one step on, in one commit with the log, and return how far it has come then.

        A refusal of `permit` leaves it as it is. The log gets `logged` in place of a note that may be personal.
        """

        # Nothing is read after the commit: a read that failed would hide what is stored, and stop what has begun.
        progress = _unproposed(intent)

        async def step(entry: LogEntry) -> Changes | None:
            nonlocal progress
            begins = kind in BEGINNINGS
            known = await self._known(intent, await (self._log.proven() if begins else self._log.logged()))
            progress = known.progress
            if begins and (why := why_not_begun(progress, target)):
                raise Overtaken(why)
            if begins and known.is_void:
                raise ApprovalRefused(VOID)
            if not permit(progress):
                return None
            # A restore or an erasure has deleted the record, and one that cannot be read stays as it is.
            kept = await self._progress.find(intent.id)
            progress = followed(progress, entry, note)
            return self._progress.changes(intent.id, kept, progress) if kept else Changes()

        await self._log.append(kind, intent, logged or note, target=target, signed=signed, changes=step)
        return progress

    async def _known(self, intent: Intent, logged: Mapping[str, IntentProgress]) -> KnownIntent:
        progress, entry = logged.get(intent.id), await self._progress.entry(intent.id)
        if progress is None:
            return KnownIntent(intent, _unproposed(intent), is_void=True)
        record = parse(IntentProgress, entry.value) if entry else None
        is_void = record is None and progress.state in ("proposed", "approved")
        return KnownIntent(intent, record.as_logged(progress) if record else progress, is_void)


def _unproposed(intent: Intent) -> IntentProgress:
    return IntentProgress(intent_id=intent.id, digest="", changed_at=intent.proposed_at)


def _is_in_its_place(found: StoredRecord[Intent] | StoredRecord[Erased]) -> bool:
    return found.id == found.record.id


def _holds_its_own(entry: StoreEntry) -> bool:
    found = parse(Intent, entry.value) or parse(Erased, entry.value)
    return found is not None and entry.key == f"{INTENT}{found.id}"
