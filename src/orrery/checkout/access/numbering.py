"""Numbers of sales without a gap, by series and year (docs/decisions/0093).

A sale is granted without its number, so that no counter is in a webhook's way. One process at a time then numbers
what waits, in the order in which it was granted. A number is given in one commit with the e-mail that names it.

The worst case is a number that is given twice. A restore takes the numbers over from the store that it replaces;
where that does not show them, nothing is numbered until the owner has named the last one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

from orrery.checkout.access.emails import Emails
from orrery.checkout.collections import BY_NUMBER, UNNUMBERED, CheckoutRecords
from orrery.checkout.number_records import SALE_NUMBER, KnownNumber, LastNumber, NumbersUnknown
from orrery.checkout.records import AccessRecord
from orrery.errors import Invalid, StoreError
from orrery.logs import log
from orrery.ports.health import Finding
from orrery.ports.store import Absent, Committed, Store
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, StoredRecord, Walk, commit, gathered, write
from orrery.runtime.index_key import have_one_origin
from orrery.runtime.parts import RestoreReport
from orrery.runtime.replaced import ReplacedStore
from orrery.runtime.restored import held_after, last_restore

EVERY = timedelta(seconds=2)
"""How long a sale waits for its number at most, while all is well."""

LONG = timedelta(minutes=5)
"""From then on a sale that waits is a problem."""

PART = "numbers of sales"

_COMMAND = "`orrery checkout numbers`"


@dataclass(frozen=True, slots=True)
class Numbers:
    """One series in one year: its last number, how many sales wait, and whether the last is known for sure."""

    series: str
    year: int
    last: int
    waiting: int
    known: bool

    @property
    def last_number(self) -> str:
        """The last number that was given; the one that ends with 0000 is none."""
        return number_text(self.series, self.year, self.last)


def number_text(series: str, year: int, number: int) -> str:
    """Return a number as a buyer reads it: `NW-2026-0017`."""
    return f"{series}-{year}-{number:04d}"


class Numbering:
    """Numbers the sales of one store. `series` are those in use, each with the time zone of its years."""

    def __init__(self, stored: CheckoutRecords, emails: Emails, series: Mapping[str, str]) -> None:
        self._stored, self._clock = stored, stored.clock
        self._emails = emails
        self.series = series

    async def run(self) -> int:
        """Number the sales that wait; return how many got a number. Raises the store's errors."""
        count = 0
        async for page in self._stored.access.indexed(Walk(UNNUMBERED)):
            for found in page.records:
                count += await self._number(found)
        return count

    async def local(self) -> list[Finding]:
        """Return whether sales wait for their numbers for long."""
        if not self.series:
            return []
        until = self._clock.now() - LONG
        waiting = (await gathered(self._stored.access.indexed(Walk(UNNUMBERED, 100)))).values()
        late = [one.session_id for one in waiting if one.granted_at < until]
        if not late:
            return [Finding(PART, "ok", "No sale waits for its number.", essential=False)]
        why = f"{len(late)} sales wait for a number, and their buyers for the receipt."
        return [Finding(PART, "broken", why, f"{_COMMAND} shows why.", essential=False, items=tuple(late))]

    async def listed(self) -> list[Numbers]:
        """Return the series: those that were used, those in use this year, and those that sales wait for."""
        waiting = (await gathered(self._stored.access.indexed(Walk(UNNUMBERED)))).values()
        now = self._clock.now()
        wanted = [self._year_of(one) for one in waiting]
        found = {*wanted, *((one, now.astimezone(self._zone(one)).year) for one in self.series)}
        found |= {_parts(one.id) for one in (await self._stored.last_numbers.all()).records}
        return [await self._numbers(*one, wanted.count(one)) for one in sorted(found)]

    async def confirm(self, numbers: Sequence[str]) -> None:
        """Go on after the last numbers that the owner names; raise `Invalid` for one that cannot be the last."""
        changes, now, named = Changes(), self._clock.now(), set[str]()
        for text in numbers:
            series, year, number = _read(text)
            name = _counter(series, year)
            if name in named:
                raise Invalid(f"Two numbers of {name} were named: name only the last that was given.")
            named.add(name)
            found = await self._stored.last_numbers.get(name)
            if found and found.record.last > number:
                raise Invalid(f"{number_text(series, year, found.record.last)} was given already.")
            changes += self._stored.last_numbers.changes(name, found, LastNumber(last=number, confirmed_at=now))
        if not isinstance(await commit(self._stored.store, changes), Committed):
            raise Invalid("A number was given meanwhile: look again, and repeat it.")

    async def take_over(self, replaced: ReplacedStore | None) -> RestoreReport:
        """Learn which numbers the store gave that a restore replaces.

        Where that cannot be read, or has another origin, nothing is numbered until the owner confirms.
        """
        whole = False
        if replaced:
            try:
                is_own = await have_one_origin(self._stored.store, replaced.store)
                whole = is_own and await self._learn(replaced.store) and replaced.went_on
            except StoreError as error:
                log.warning("the replaced store cannot be read", why=str(error))
        used = bool(self.series) or not (await self._stored.last_numbers.all()).is_empty
        if whole or not used:
            return RestoreReport([])
        unknown = self._stored.numbers_unknown.put(NumbersUnknown(since=self._clock.now()))
        await write(self._stored.store, [unknown])
        why = f"Which numbers of sales were given since the snapshot is not known: name the last by {_COMMAND}."
        return RestoreReport([why])

    async def _learn(self, replaced: Store) -> bool:
        """Take over the numbers of another store; return whether all of them could be read."""
        ours, theirs = self._stored, CheckoutRecords(replaced, self._clock, b"")
        last, unknown = await theirs.last_numbers.all(), await theirs.numbers_unknown.all()
        await write(ours.store, [ours.numbers_unknown.put(one) for one in unknown.values()])
        for one in last.records:
            here = await ours.last_numbers.get(one.id)
            if here is None or here.record.last <= one.record.last:
                await write(ours.store, [ours.last_numbers.put(one.record, one.id)])
        whole = not last.unreadable and not unknown.unreadable
        async for page in theirs.access.indexed(Walk(BY_NUMBER)):
            whole = whole and not page.unreadable
            given = {one.session_id: KnownNumber(number=one.sale_number or "") for one in page.values()}
            await write(ours.store, [ours.known_numbers.put(known, name) for name, known in given.items()])
        return whole

    async def _number(self, found: StoredRecord[AccessRecord]) -> bool:
        """Give one sale its number, with the buyer's e-mail; return whether it got one."""
        record = found.record
        series, year = self._year_of(record)
        known = await self._stored.known_numbers.get(record.session_id)
        number, counted = (known.record.number, Changes()) if known else await self._next(series, year)
        if not number:
            return False
        numbered = record.change(sale_number=number)
        changes = self._stored.access.changes(found.id, found, numbered) + counted
        changes += Changes(checks=[Absent(f"{BY_NUMBER}{number}")])
        now = self._clock.now()
        because = held_after(
            await last_restore(self._stored.store, self._clock), record.paid_at or record.granted_at
        )
        outcome = await outbox.commit_with(
            self._stored.store, changes, self._emails.numbered(numbered, now), now, held_because=because
        )
        if isinstance(outcome, Committed):
            log.info("sale numbered", session=found.id, number=number)
            return True
        # Another process numbered it, or it changed: the next run looks again.
        log.info("a sale changed while it was numbered", session=found.id)
        return False

    async def _next(self, series: str, year: int) -> tuple[str, Changes]:
        """Return the next number with what counts it, or an empty one where the last is not known."""
        name = _counter(series, year)
        found = await self._stored.last_numbers.get(name)
        last = found.record if found else LastNumber(last=0)
        if not await self._is_known(series, year, last):
            return "", Changes()
        after = last.change(last=last.last + 1)
        return number_text(series, year, after.last), self._stored.last_numbers.changes(name, found, after)

    async def _is_known(self, series: str, year: int, last: LastNumber) -> bool:
        """Return whether no number can have been given that this store does not know."""
        unknown = await self._stored.numbers_unknown.get()
        if unknown is None:
            return True
        since = unknown.record.since
        confirmed = last.confirmed_at is not None and last.confirmed_at >= since
        return confirmed or year > since.astimezone(self._zone(series)).year

    async def _numbers(self, series: str, year: int, waiting: int) -> Numbers:
        found = await self._stored.last_numbers.get(_counter(series, year))
        last = found.record if found else LastNumber(last=0)
        return Numbers(series, year, last.last, waiting, await self._is_known(series, year, last))

    def _year_of(self, record: AccessRecord) -> tuple[str, int]:
        """Return the series and the year of a sale: that of its receipt's date, also in a series of before."""
        zone = ZoneInfo(self._emails.seller_of(record).time_zone)
        return record.sale_series or "", (record.paid_at or record.granted_at).astimezone(zone).year

    def _zone(self, series: str) -> ZoneInfo:
        """Return the zone of a series; one that is not in use may have had any, the first to change year too."""
        return ZoneInfo(self.series.get(series, "Pacific/Kiritimati"))


def _counter(series: str, year: int) -> str:
    return f"{series}-{year}"


def _parts(counter: str) -> tuple[str, int]:
    series, _, year = counter.partition("-")
    return series, int(year)


def _read(text: str) -> tuple[str, int, int]:
    written = text.strip().upper()
    if not SALE_NUMBER.fullmatch(written):
        raise Invalid(f"{text!r} is no number of a sale: those are like NW-2026-0017; NW-2026-0000 is before all.")
    series, year, number = written.split("-")
    return series, int(year), int(number)
