"""What a person set aside: rows that are done, and rows that come back on a day (decision 57)."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Literal

from orrery.cockpit.errors import WrongDay
from orrery.cockpit.records import SetAside
from orrery.cockpit.rows import Row
from orrery.cockpit.waiting import Aside, is_over
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


class SetAsides:
    """Sets rows aside, and takes that back. One process uses the store, so what it holds is read once."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[bytes, Aside] | None = None
        self.records = Collection(store, clock, SetAside, PREFIX, life=_life)

    async def known(self) -> Mapping[bytes, Aside]:
        """Return what is set aside, by the keys of the rows; raise the store's errors."""
        if self._known is None:
            found = await self.records.all()
            self._known = {bytes.fromhex(one.id): Aside(one.record.until) for one in found.records}
        return self._known

    async def set(self, row: Row, what: Set, until: date | None, days: int) -> bool:
        """Set a row aside, or take that back; return whether anything changed.

        `days` is how far back its mailbox lists it. Raises `WrongDay` for a day on which it would not come back.
        """
        if (what == "later") != (until is not None):
            raise WrongDay("`until` belongs to `later`, which needs it: the day on which the row comes back.")
        if until:
            self._check(row, until, days)
        new = None if what == "undo" else Aside(until)
        if (await self.known()).get(row.key) == new:
            return False
        await self._store_as(row, new)
        return True

    async def _store_as(self, row: Row, new: Aside | None) -> None:
        record_id = row.key.hex()
        record = SetAside(track=row.id.track, until=new.until, set_at=self._clock.now()) if new else None

        async def attempt() -> bool | Conflict:
            changes = self.records.changes(record_id, await self.records.get(record_id), record, anew=True)
            outcome = await commit(self._store, changes)
            return outcome if isinstance(outcome, Conflict) else True

        _ = await compare_and_set(attempt, _BUSY)
        known = {**(await self.known())}
        _ = known.pop(row.key, None)
        self._known = known | ({row.key: new} if new else {})

    def _check(self, row: Row, until: date, days: int) -> None:
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
