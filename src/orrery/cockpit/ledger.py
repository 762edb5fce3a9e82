"""The action ledger: what needs doing, from whom, until when; tasks are items of it, too (decision 35)."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from orrery.cockpit.records import LedgerItem
from orrery.cockpit.rows import LEDGER, LEDGER_ACCOUNT, digest_of
from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.comms.errors import RowGone
from orrery.ports.comms.messages import Priority, Source
from orrery.ports.comms.tasks import NewTask, Task
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Collection, RecordPage, StoredRecord, commit, compare_and_set
from orrery.syntax.lines import is_line, one_line
from orrery.syntax.track import Track

ITEM = "ledger:"

LONGEST_TITLE = 300
LONGEST_PERSON = 200

KEEP_DISMISSED = timedelta(days=90)
"""How long a dismissed item can be undone."""

Action = Literal["dismiss", "undo"]

_BUSY = "The item changes all the time; nothing was changed. Try again."


@dataclass(frozen=True, slots=True)
class NewItem:
    """What a person adds to the ledger."""

    track: Track
    title: str
    person: str = ""
    until: date | None = None
    priority: Priority = "normal"

    def __post_init__(self) -> None:
        if not is_line(self.title, LONGEST_TITLE):
            raise Invalid(f"The title must be one line of 1 to {LONGEST_TITLE} characters.")
        if self.person and not is_line(self.person, LONGEST_PERSON):
            raise Invalid(f"From whom it comes must be one line of at most {LONGEST_PERSON} characters.")


def items(store: Store, clock: Clock) -> Collection[LedgerItem]:
    """Return the collection of the ledger's items."""
    return Collection(
        store, clock, LedgerItem, ITEM, life=lambda item: KEEP_DISMISSED if item.dismissed_at else None
    )


class Ledger:
    """Adds to the ledger, and dismisses from it. It is the cockpit's own list of tasks, too."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.items = items(store, clock)

    @property
    def account(self) -> str:
        """See `TaskBook`."""
        return LEDGER_ACCOUNT

    async def all(self) -> RecordPage[LedgerItem]:
        """Return every item, the dismissed ones too, and which cannot be read."""
        return await self.items.all()

    async def note(self, item: NewItem) -> str:
        """Add an item, and return its id."""
        item_id = f"a-{secrets.token_hex(6)}"
        _ = await commit(self._store, self.items.changes(item_id, None, self._record(item)))
        return item_id

    async def import_items(self, several: Sequence[NewItem]) -> tuple[int, int]:
        """Add items that are not there yet; return how many were added and how many were there.

        The same item of a repeated import is the same one, dismissed or not.
        """
        added = [await self._put_once(_digest(item), self._record(item)) for item in several]
        return sum(added), len(added) - sum(added)

    async def add(self, task: NewTask) -> Task:
        """Return the task of a row; see `TaskBook`."""
        if task.source == LEDGER:
            _ = await self.act(task.source_id, "undo")
            item = await self._require(task.source_id)
            return _task(item.id, item.record, task, already_existed=True)
        item_id = task_id(task.track, task.source, task.source_id)

        async def attempt() -> Task | Conflict:
            old = await self.items.get(item_id)
            if old and not old.record.dismissed_at:
                return _task(item_id, old.record, task, already_existed=True)
            new = old.record.change(dismissed_at=None) if old else self._of(task)
            outcome = await commit(self._store, self.items.changes(item_id, old, new))
            existed = old is not None
            return outcome if isinstance(outcome, Conflict) else _task(item_id, new, task, already_existed=existed)

        return await compare_and_set(attempt, _BUSY)

    async def act(self, item_id: str, action: Action) -> bool:
        """Dismiss an item or undo that; return whether anything changed. Raises `RowGone`."""

        async def attempt() -> bool | Conflict:
            old = await self._require(item_id)
            dismissed = self._clock.now() if action == "dismiss" else None
            if bool(old.record.dismissed_at) == bool(dismissed):
                return False
            changes = self.items.changes(item_id, old, old.record.change(dismissed_at=dismissed))
            outcome = await commit(self._store, changes)
            return outcome if isinstance(outcome, Conflict) else True

        return await compare_and_set(attempt, _BUSY)

    async def _require(self, item_id: str) -> StoredRecord[LedgerItem]:
        if found := await self.items.get(item_id):
            return found
        raise RowGone("This item is no longer in the action ledger.")

    async def _put_once(self, item_id: str, record: LedgerItem) -> bool:
        if await self.items.entry(item_id):
            return False
        return not isinstance(await commit(self._store, self.items.changes(item_id, None, record)), Conflict)

    def _record(self, item: NewItem) -> LedgerItem:
        return LedgerItem(
            track=item.track,
            title=item.title,
            person=item.person,
            until=item.until,
            priority=item.priority,
            created_at=self._clock.now(),
        )

    def _of(self, task: NewTask) -> LedgerItem:
        return LedgerItem(
            track=task.track,
            title=one_line(task.title, LONGEST_TITLE) or "(no subject)",
            person=one_line(task.person, LONGEST_PERSON),
            priority=task.priority,
            source=task.source,
            source_id=task.source_id,
            score=task.score,
            kind=task.kind,
            bucket=task.bucket,
            created_at=self._clock.now(),
        )


def task_id(track: Track, source: Source, source_id: str) -> str:
    """Return the id of the task of a row: one for each track, source and source id (decision 35)."""
    return f"t-{digest_of(track, source, source_id)}"


def is_due(item: LedgerItem, now: datetime) -> bool:
    """Return whether an item is due today, or was before: by the calendar of this machine."""
    return item.until is not None and item.until <= now.astimezone().date()


def _task(item_id: str, item: LedgerItem, asked: NewTask, *, already_existed: bool) -> Task:
    """Return an item as a task; what a person added has its score, kind and bucket from the mapping tables."""
    score = asked.score if item.score is None else item.score
    return Task(item_id, item.title, score, item.kind or asked.kind, item.bucket or asked.bucket, already_existed)


def _digest(item: NewItem) -> str:
    until = item.until.isoformat() if item.until else ""
    return f"i-{digest_of(item.track, item.title, item.person, until)}"
