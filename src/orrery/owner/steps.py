"""How intents and how far they have come are kept: each step is one commit with its entry in the log."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from orrery.errors import NotFound, StoreUnavailable
from orrery.owner.approval_log import NO_WORD, ApprovalLog
from orrery.owner.chain import Kind, Word, last_states
from orrery.owner.intents import Intent, read_intent
from orrery.owner.progress import Progress, in_words
from orrery.ports.store import Entry, Put, Store, Unchanged

INTENT = "intent:"
STATE = "approval:"

Logged = Mapping[tuple[str, str], str]
"""What the log says last of each intent and target."""

_ROUNDS = 20
_VOID = {"": "void", "proposed": "void", "approved": "void", "started": "unknown"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """An intent and how far it has come.

    `progress` is None when a restore made the approval void; `logged` is then what the log says last.
    """

    intent: Intent
    progress: Progress | None
    logged: str = ""

    @property
    def is_intact(self) -> bool:
        """Return whether the intent is still what was proposed."""
        return self.progress is not None and self.progress.digest == self.intent.digest()

    def in_words(self, now: datetime) -> str:
        """Return how far it has come in a word or two for a person."""
        if self.progress:
            return in_words(self.progress, now)
        return _VOID.get(self.logged, self.logged)


class Steps:
    """Reads intents, and brings them one step on."""

    def __init__(self, store: Store, log: ApprovalLog) -> None:
        self._store = store
        self._log = log

    async def proposal(self, intent_id: str) -> Proposal:
        """Return one intent and how far it has come; raise `NotFound`."""
        entry = await self._store.get(intent_key(intent_id))
        intent = read_intent(entry.value) if entry else None
        if intent is None or intent.id != intent_id:
            raise NotFound("There is no such intent.")
        known = await self._known(intent_id)
        return Proposal(intent, known[1]) if known else _void(intent, await self._logged())

    async def proposals(self) -> list[Proposal]:
        """Return every intent that can be read, the newest first."""
        found: list[Proposal] = []
        logged: Logged | None = None
        async for intent in self._intents():
            if known := await self._known(intent.id):
                found.append(Proposal(intent, known[1]))
                continue
            if logged is None:  # a restore makes every approval void: the log is read once for all of them
                logged = await self._logged()
            found.append(_void(intent, logged))
        return sorted(found, key=lambda one: one.intent.proposed_at, reverse=True)

    async def _intents(self) -> AsyncIterator[Intent]:
        after = None
        while page := await self._store.scan(INTENT, after=after):
            after = page[-1].key
            for entry in page:
                intent = read_intent(entry.value)
                if intent and entry.key == intent_key(intent.id):
                    yield intent

    async def step(
        self,
        intent: Intent,
        kind: Kind,
        change: Callable[[Progress], Progress | None],
        *,
        note: str = "",
        target: str = "",
        word: Word = NO_WORD,
    ) -> Progress:
        """Bring an intent one step on, in one commit with the log; None of `change` leaves it as it is."""
        for _ in range(_ROUNDS):
            known = await self._known(intent.id)
            if known is None:
                raise StoreUnavailable("The store was restored meanwhile: the log does not tell the outcome.")
            entry, progress = known
            changed = change(progress)
            if changed is None:
                return progress
            fence = [Unchanged(entry.key, entry.version)]
            written = [stored_progress(changed)]
            if await self._log.append(kind, intent, note, target=target, word=word, writes=written, checks=fence):
                return changed
        raise StoreUnavailable("The store is too busy to note how far the intent has come.")

    async def _known(self, intent_id: str) -> tuple[Entry, Progress] | None:
        entry = await self._store.get(f"{STATE}{intent_id}")
        try:
            return (entry, Progress.model_validate_json(entry.value)) if entry else None
        except ValidationError:
            return None

    async def _logged(self) -> Logged:
        entries = [entry async for entry in self._log.entries()]
        return last_states(entry for entry in entries if entry)


def _void(intent: Intent, logged: Logged) -> Proposal:
    return Proposal(intent, None, logged.get((intent.id, ""), ""))


def intent_key(intent_id: str) -> str:
    """Return where an intent is kept."""
    return f"{INTENT}{intent_id}"


def stored_progress(progress: Progress) -> Put:
    """Return the write that keeps how far an intent has come."""
    return Put(f"{STATE}{progress.intent_id}", progress.model_dump_json().encode())
