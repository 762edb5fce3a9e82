"""How intents and how far they have come are kept: each step is one commit with its entry in the log."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime

from orrery.errors import ApprovalRefused, Invalid, NotFound, Overtaken, RecordUnreadable, StoreUnavailable
from orrery.owner.approval_log import UNSIGNED, ApprovalLog
from orrery.owner.chain import BEGINNINGS, EntryKind, LoggedStates, SignedStatement, last_states, why_not_begun
from orrery.owner.intents import Erased, Intent
from orrery.owner.progress import Progress, in_words, is_over
from orrery.owner.stored import readable, tried, unreadable
from orrery.ports.store import Absent, Entry, Put, Store, Unchanged, Write

INTENT = "intent:"
STATE = "approval:"

_ROUNDS = 20
_VOID = {"": "void", "proposed": "void", "approved": "void", "started": "unknown"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """An intent and how far it has come.

    `progress` is None when a restore made the approval void, or when it cannot be read, as `damaged` says;
    `logged` is then what the log says last.
    """

    intent: Intent
    progress: Progress | None
    logged: str = ""
    damaged: RecordUnreadable | None = None

    @property
    def why_void(self) -> str:
        """Return why it counts for nothing where `progress` is None."""
        return str(self.damaged) if self.damaged else "The approval is void: the store was restored since."

    @property
    def is_intact(self) -> bool:
        """Return whether the intent is still what was proposed."""
        return self.progress is not None and self.progress.digest == self.intent.digest()

    def in_words(self, now: datetime) -> str:
        """Return its state in one or two words for a person."""
        if self.progress:
            return in_words(self.progress, now)
        return _VOID.get(self.logged, self.logged)


class IntentStore:
    """Reads and erases intents, and stores each change of their progress."""

    def __init__(self, store: Store, log: ApprovalLog) -> None:
        self._store = store
        self._log = log

    async def proposal(self, intent_id: str) -> Proposal:
        """Return one intent and how far it has come; raise `NotFound` and `RecordUnreadable`."""
        entry = await self._store.get(intent_key(intent_id))
        if entry is None:
            raise NotFound("There is no such intent; `orrery approvals list --all` shows those that there are.")
        if readable(Erased, entry):
            raise NotFound("This intent was erased; `orrery approvals log` tells what became of it.")
        intent = readable(Intent, entry)
        if intent is None or intent.id != intent_id:
            raise unreadable(entry)
        known = await self._known(intent_id)
        return (
            Proposal(intent, known[1]) if isinstance(known, tuple) else _void(intent, await self._logged(), known)
        )

    async def proposals(self) -> list[Proposal]:
        """Return every intent that can be read, the newest first."""
        found: list[Proposal] = []
        logged: LoggedStates | None = None
        async for entry in self._entries():
            intent = readable(Intent, entry)
            if intent is None or entry.key != intent_key(intent.id):
                continue
            known = await self._known(intent.id)
            if isinstance(known, tuple):
                found.append(Proposal(intent, known[1]))
                continue
            if logged is None:  # a restore makes every approval void: the log is read once for all of them
                logged = await self._logged()
            found.append(_void(intent, logged, known))
        return sorted(found, key=lambda one: one.intent.proposed_at, reverse=True)

    async def unreadable(self) -> list[Entry]:
        """Return the entries in an intent's place that hold neither one nor what is left of one."""
        return [entry async for entry in self._entries() if not _holds_its_own(entry)]

    async def erased(self) -> set[str]:
        """Return the ids of the intents that are erased."""
        found = [(entry.key, readable(Erased, entry)) async for entry in self._entries()]
        return {one.id for key, one in found if one and key == intent_key(one.id)}

    async def erase(self, intent_id: str, reason: str, now: datetime) -> None:
        """Let go of what an intent says; raise `Invalid` when it was altered, or something may come of it."""
        for _ in range(_ROUNDS):
            entry, proposal = await self._store.get(intent_key(intent_id)), await self.proposal(intent_id)
            known = await self._known(intent_id)
            if isinstance(known, RecordUnreadable):
                raise Invalid(str(known))
            if entry is None or (known and not is_over(known[1], now)):
                raise Invalid(f"It is {proposal.in_words(now)}: what comes of it must be known first.")
            if known and known[1].digest != proposal.intent.digest():
                raise Invalid("It was altered: see `orrery approvals verify`.")
            writes: list[Write] = [Put(entry.key, Erased(id=intent_id, erased_at=now).to_bytes())]
            unchanged = [Unchanged(entry.key, entry.version)]
            if known:
                writes.append(stored_progress(known[1].without_notes()))
                unchanged.append(Unchanged(known[0].key, known[0].version))
            if await self._log.append("erased", proposal.intent, reason, writes=writes, checks=unchanged):
                return
        raise StoreUnavailable("The store is too busy to erase the intent.")

    async def _entries(self) -> AsyncIterator[Entry]:
        after = None
        while page := await self._store.scan(INTENT, after=after):
            after = page[-1].key
            for entry in page:
                yield entry

    async def advance(
        self,
        intent: Intent,
        kind: EntryKind,
        change: Callable[[Progress], Progress | None],
        *,
        note: str = "",
        target: str = "",
        signed: SignedStatement = UNSIGNED,
    ) -> Progress:
        """Bring an intent one step on, in one commit with the log; None of `change` leaves it as it is."""
        for _ in range(_ROUNDS):
            known = await self._known(intent.id)
            if known is None:
                raise StoreUnavailable("The store was restored meanwhile: the log does not tell the outcome.")
            if isinstance(known, RecordUnreadable):
                raise known
            entry, progress = known
            # Asked after the progress was read: an erasure writes that too, so that a later one breaks the fence.
            is_erased = await self._is_erased(intent.id)
            if is_erased and kind in BEGINNINGS:
                raise Overtaken("The intent was erased meanwhile.")
            changed = change(progress)
            if changed is None:
                return progress
            if kind in BEGINNINGS and (why := await self._why_not_begun(entry, intent.id, target)):
                raise ApprovalRefused(f"The approval is used: {why}. Its record in the store was set back.")
            if is_erased:
                changed = changed.without_notes()
            fence = [Unchanged(entry.key, entry.version)]
            written = [stored_progress(changed)]
            if await self._log.append(
                kind, intent, note, target=target, signed=signed, writes=written, checks=fence
            ):
                return changed
        raise StoreUnavailable("The store is too busy to note how far the intent has come.")

    async def _why_not_begun(self, entry: Entry, intent_id: str, target: str) -> str:
        """Return why the log lets nothing begin, unless `entry`, and with it the log, was changed meanwhile.

        The record in `entry` can be put back as it was, the log cannot: `verify` would tell.
        """
        why = why_not_begun(await self._log.states(), intent_id, target)
        now = await self._store.get(entry.key) if why else entry
        return why if now and now.version == entry.version else ""

    async def close_void(self, proposal: Proposal, reason: str) -> None:
        """Note that nobody can find out what became of an intent under way before a restore; raise `Invalid`."""
        if proposal.damaged or _VOID.get(proposal.logged, proposal.logged) != "unknown":
            raise Invalid(proposal.why_void)
        still_void = [Absent(f"{STATE}{proposal.intent.id}")]
        if not await self._log.append("closed", proposal.intent, reason, checks=still_void):
            raise StoreUnavailable("The intent was changed meanwhile; nothing was written.")

    async def _is_erased(self, intent_id: str) -> bool:
        entry = await self._store.get(intent_key(intent_id))
        return readable(Erased, entry) is not None

    async def _known(self, intent_id: str) -> tuple[Entry, Progress] | RecordUnreadable | None:
        entry = await self._store.get(f"{STATE}{intent_id}")
        if entry is None:
            return None
        progress = tried(Progress, entry)
        return progress if isinstance(progress, RecordUnreadable) else (entry, progress)

    async def _logged(self) -> LoggedStates:
        entries = [entry async for entry in self._log.entries()]
        return last_states(entry for entry in entries if entry)


def _void(intent: Intent, logged: LoggedStates, damaged: RecordUnreadable | None) -> Proposal:
    return Proposal(intent, None, logged.get((intent.id, ""), ""), damaged)


def _holds_its_own(entry: Entry) -> bool:
    found = readable(Intent, entry) or readable(Erased, entry)
    return found is not None and entry.key == intent_key(found.id)


def intent_key(intent_id: str) -> str:
    return f"{INTENT}{intent_id}"


def stored_progress(progress: Progress) -> Put:
    """Return the write that keeps how far an intent has come."""
    return Put(f"{STATE}{progress.intent_id}", progress.to_bytes())
