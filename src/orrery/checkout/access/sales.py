"""What was paid and what went back, by day and currency: net is what the owner keeps, before the processor's fees.

A sale is booked when its buyer paid, a refund when the processor reported it, and a dispute that is open or lost
when it took the money (decision 58). The days are those of the zone that `now` is in,
the seller's, as its receipts have them. An inquiry of the bank takes nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from orrery.checkout.collections import ACCESS_BY_TIME, CheckoutRecords
from orrery.checkout.records import AccessRecord, Reversal
from orrery.errors import Invalid, RecordUnreadable
from orrery.runtime.collection import Walk, sortable

DAY = timedelta(days=1)

MOST = 10_000
"""How many records a request for the page reads: it must not read a whole store."""

_DAYS = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?")

Kind = Literal["sale", "refund", "dispute"]


@dataclass(frozen=True, slots=True)
class Booking:
    """An amount that came in or went back, in its currency's smallest unit; `at` is None of an unknown day.

    `number` is the sale's in a series, if one numbers it.
    """

    kind: Kind
    at: datetime | None
    amount: int
    currency: str
    session_id: str
    product: str
    number: str | None = None

    @property
    def signed(self) -> int:
        """Return the amount, below zero for what went back."""
        return self.amount if self.kind == "sale" else -self.amount


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, from `since` until before `until`."""

    name: str
    since: datetime
    until: datetime

    def holds(self, at: datetime | None) -> bool:
        """Return whether a time is within it; one that is not known is not."""
        return at is not None and self.since <= at < self.until


@dataclass(slots=True)
class Totals:
    """Of one currency, in its smallest unit: how many were sold, for how much, and how much of that went back."""

    sold: int = 0
    gross: int = 0
    refunded: int = 0
    disputed: int = 0

    @property
    def net(self) -> int:
        return self.gross - self.refunded - self.disputed

    def row(self, currency: str) -> dict[str, str | int]:
        """Return all of it by name, as commands print it."""
        return {"currency": currency, **asdict(self), "net": self.net}

    def add(self, booking: Booking) -> None:
        match booking.kind:
            case "sale":
                self.sold += 1
                self.gross += booking.amount
            case "refund":
                self.refunded += booking.amount
            case "dispute":
                self.disputed += booking.amount


@dataclass(slots=True)
class Bookings:
    """What was booked, the newest first and what has no day last; `is_cut`: nothing, of too many sales."""

    found: list[Booking] = field(default_factory=list[Booking])
    unreadable: list[RecordUnreadable] = field(default_factory=list[RecordUnreadable])
    is_cut: bool = False

    def within(self, period: Period) -> list[Booking]:
        return [one for one in self.found if period.holds(one.at)]

    def undated(self) -> list[Booking]:
        return [one for one in self.found if one.at is None]

    def currencies(self) -> list[str]:
        """Return the currencies, that of most bookings first."""
        counted = totals(self.found)
        return sorted(counted, key=lambda each: (-counted[each].sold, each))


def periods(now: datetime) -> list[Period]:
    """Return the periods that have a name: today, 7 and 30 days with today, this month and the last one."""
    today = now.date()
    month, tomorrow = today.replace(day=1), today + DAY
    return [
        _days("today", today, tomorrow, now),
        _days("7d", tomorrow - 7 * DAY, tomorrow, now),
        _days("30d", tomorrow - 30 * DAY, tomorrow, now),
        _days("month", month, tomorrow, now),
        _days("last-month", (month - DAY).replace(day=1), month, now),
    ]


def last_days(count: int, now: datetime) -> list[Period]:
    """Return the last days, today at the end."""
    first = [now.date() - number * DAY for number in reversed(range(count))]
    return [_days(day.isoformat(), day, day + DAY, now) for day in first]


def period_of(text: str, now: datetime) -> Period:
    """Return the period of a name, of a day, or of two such as `2026-11-01..2026-11-30`; raise `Invalid`."""
    named = {one.name: one for one in periods(now)}
    if text in named:
        return named[text]
    try:
        written = _DAYS.fullmatch(text)
        first, last = written.groups() if written else ("", "")
        since, end = date.fromisoformat(first), date.fromisoformat(last or first)
        found = _days(text, since, end + DAY, now)
    except (ValueError, OverflowError):
        raise Invalid(
            f"A period is {', '.join(named)}, a day such as 2026-11-30, or two such as 2026-11-01..2026-11-30."
        ) from None
    if end < since:
        raise Invalid(f"A period begins with its first day: {last}..{first}.")
    return found


def _days(name: str, since: date, until: date, now: datetime) -> Period:
    return Period(name, *(datetime.combine(day, time(), now.tzinfo).astimezone(UTC) for day in (since, until)))


def totals(bookings: Iterable[Booking]) -> Mapping[str, Totals]:
    """Return the totals of each currency; currencies are never added up."""
    found: dict[str, Totals] = {}
    for booking in bookings:
        found.setdefault(booking.currency, Totals()).add(booking)
    return found


def sale_of(record: AccessRecord) -> Iterator[Booking]:
    """Yield the sale of a record; free access and an import are none."""
    if record.amount_total is not None and record.currency is not None:
        at = record.paid_at or record.granted_at
        yield Booking("sale", at, record.amount_total, record.currency, *_named(record))


def _named(record: AccessRecord) -> tuple[str, str, str | None]:
    return record.session_id, record.product.name, record.number


def returns_of(reversal: Reversal, record: AccessRecord) -> Iterator[Booking]:
    """Yield what went back of a sale: a refund is the difference of successive totals of the charge."""
    if record.amount_total is None:
        return  # no sale was booked either
    sale = _named(record)
    given_back, undated = 0, reversal.undated_refunds
    for one in reversal.refunds:
        if given_back < undated < one.total:
            yield Booking("refund", None, undated - given_back, reversal.currency, *sale)
            given_back = undated
        if one.total > given_back:
            yield Booking("refund", one.at, one.total - given_back, reversal.currency, *sale)
            given_back = one.total
    if reversal.amount_refunded > given_back:
        yield Booking("refund", None, reversal.amount_refunded - given_back, reversal.currency, *sale)
    for dispute in reversal.every_dispute:
        if dispute.takes_money:
            whole = reversal.amount or record.amount_total
            amount = max(whole - reversal.amount_refunded, 0) if dispute.amount is None else dispute.amount
            yield Booking("dispute", dispute.taken_at, amount, dispute.currency, *sale)


async def read_bookings(
    stored: CheckoutRecords, since: datetime, *, livemode: bool, most: int | None = None
) -> Bookings:
    """Return what was booked since a time, and what has no day.

    With `most`, only what went back of a sale since then, and nothing at all where more sales than that were made:
    `is_cut`.
    """
    # By our clock, what was paid since then was granted a moment before at the earliest.
    newest = Walk(ACCESS_BY_TIME, most, f"{ACCESS_BY_TIME}{sortable(since - DAY)}:", newest_first=True)
    booked, unreadable, count = list[Booking](), dict[str, RecordUnreadable](), 0
    async for page in stored.access.indexed(newest):
        of_mode = [one for one in page.values() if one.livemode == livemode]
        booked += [booking for record in of_mode for booking in sale_of(record)]
        unreadable |= {one.name: one for one in page.unreadable}
        count += len(page.records) + len(page.unreadable)
    reversals = await stored.reversals.all()
    unreadable |= {one.name: one for one in reversals.unreadable}
    if most is not None and count >= most:
        return Bookings(unreadable=[*unreadable.values()], is_cut=True)
    sold = {one.session_id for one in booked}
    for reversal in reversals.values():
        if most is None or reversal.session_id in sold or _went_back(reversal, since):
            try:
                booked += await _returns(stored, reversal, livemode=livemode)
            except RecordUnreadable as error:
                unreadable[error.name] = error
    found = [one for one in booked if one.at is None or one.at >= since]
    found.sort(key=lambda one: (one.at is not None, one.at or since), reverse=True)
    return Bookings(found, [*unreadable.values()])


async def newest_sales(stored: CheckoutRecords, most: int, *, livemode: bool) -> list[AccessRecord]:
    """Return the last sales of a mode among the newest records; imports and free access are none."""
    found: list[AccessRecord] = []
    async for page in stored.access.indexed(Walk(ACCESS_BY_TIME, MOST, newest_first=True)):
        sold = [one for one in page.values() if one.livemode == livemode and one.amount_total is not None]
        found += sold[: most - len(found)]
        if len(found) == most:
            break
    return found


def _went_back(reversal: Reversal, since: datetime) -> bool:
    """Return whether some of a sale went back since a time, as far as its day is known."""
    times = [one.at for one in reversal.refunds] + [one.taken_at for one in reversal.every_dispute]
    return any(at and at >= since for at in times)


async def _returns(stored: CheckoutRecords, reversal: Reversal, *, livemode: bool) -> Iterable[Booking]:
    """Return what went back of one sale."""
    entry = await stored.access.get(reversal.session_id) if reversal.session_id else None
    return returns_of(reversal, entry.record) if entry and entry.record.livemode == livemode else []
