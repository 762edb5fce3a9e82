"""What a person set aside: rows that are done, and rows that come back on a day (decision 57)."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Literal

from orrery.cockpit.errors import WrongDay
from orrery.cockpit.records import SetAside
from orrery.cockpit.rows import CockpitRow, RowId, digest_of
from orrery.cockpit.waiting import SetAsideUntil, is_over
from orrery.ports.clock import Clock
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Collection, commit, compare_and_set

PREFIX = "set-aside:"

KEEP_DONE = timedelta(days=400)
"""How long it is known that a row is done: longer than nearly every mailbox lists it."""

LONGEST = timedelta(days=366)
"""For how long a row can be set aside."""

Set = Literal["done", "later", "undo"]

_BUSY = "The row changes all the time; nothing was changed. Try again."


def _life(record: SetAside) -> timedelta:
    if record.until is None:
        return KEEP_DONE
    return max(record.until - record.set_at.date(), timedelta()) + timedelta(days=2)


class SetAsideRows:
    """What is set aside: by the keys of the rows, each with its source's id.

    Of 50,000 rows only those are looked up whose source's id is among `source_ids`: a key takes long to make.
    """

    def __init__(self, held: Mapping[str, tuple[str, SetAsideUntil]] | None = None) -> None:
        self.held = held or {}
        self.source_ids = frozenset(source_id for source_id, _ in self.held.values())

    def of(self, row_id: RowId) -> SetAsideUntil | None:
        """Return the state of a row."""
        found = self.held.get(_key_of(row_id))
        return found[1] if found else None


def asked_for(what: Set, until: date | None) -> SetAsideUntil | None:
    """Return the state that a request asks for."""
    return None if what == "undo" else SetAsideUntil(until)


def _key_of(row_id: RowId) -> str:
    return digest_of(row_id.track, row_id.account, row_id.source, row_id.source_id)


class SetAsides:
    """Sets rows aside, and takes that back. One process uses the store, so what it holds is read once."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: SetAsideRows | None = None
        self.records = Collection(store, clock, SetAside, PREFIX, life=_life)

    def now(self) -> datetime:
        """Return the time by which a row comes back."""
        return self._clock.now()

    async def known(self) -> SetAsideRows:
        """Return what is set aside; raise the store's errors."""
        if self._known is None:
            found = (await self.records.all()).records
            self._known = SetAsideRows(
                {one.id: (one.record.source_id, SetAsideUntil(one.record.until)) for one in found}
            )
        return self._known

    async def set(self, row: CockpitRow, what: Set, until: date | None, days: int) -> SetAsideUntil | None:
        """Set a row aside, or take that back; return its state before.

        `days` is how far back its mailbox lists it. Raises `WrongDay` for a day on which it would not come back.
        """
        if (what == "later") != (until is not None):
            raise WrongDay("`until` belongs to `later`, which needs it: the day on which the row comes back.")
        if until:
            self._check(row, until, days)
        new, before = asked_for(what, until), (await self.known()).of(row.id)
        if before != new:
            await self._store_as(row, new)
        return before

    async def _store_as(self, row: CockpitRow, new: SetAsideUntil | None) -> None:
        record_id = _key_of(row.id)
        now, source_id = self._clock.now(), row.id.source_id
        record = SetAside(track=row.id.track, source_id=source_id, until=new.until, set_at=now) if new else None

        async def attempt() -> bool | Conflict:
            changes = self.records.changes(record_id, await self.records.get(record_id), record, renewed=True)
            outcome = await commit(self._store, changes)
            return outcome if isinstance(outcome, Conflict) else True

        _ = await compare_and_set(attempt, _BUSY)
        held = {key: one for key, one in (await self.known()).held.items() if key != record_id}
        self._known = SetAsideRows(held | ({record_id: (source_id, new)} if new else {}))

    def _check(self, row: CockpitRow, until: date, days: int) -> None:
        today, message = self._clock.now().astimezone().date(), row.message
        if not today < until <= today + LONGEST:
            raise WrongDay(f"`until` must be a day after today, at most {LONGEST.days} days ahead.")
        if is_over(message, datetime.combine(until, time()).astimezone()):
            raise WrongDay("The meeting is over by then: choose an earlier day, or add it to the tasks.")
        last = message.received_at.astimezone().date() + timedelta(days=days)
        if days and message.source != "meeting" and last < until:
            raise WrongDay(
                f"The mailbox lists this until {last:%-d %B %Y} only, {days} days from its receipt: choose a day "
                "until then, or add it to the tasks."
            )
