"""The sales on the owner's page: what is kept of them, and the last ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo

from orrery.checkout.access.sales import (
    MOST,
    Bookings,
    Totals,
    last_days,
    newest_sales,
    periods,
    read_bookings,
    returns_of,
    totals,
)
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord, Reversal
from orrery.ports.panels import Cell, Link, Panel, Takings, Tone, utc_text
from orrery.ports.processor import ProcessorReads
from orrery.syntax.email_address import masked
from orrery.syntax.money import decimal, money

LAST = 10
"""How many sales are listed."""

_NAMES = {"today": "Today", "7d": "7 days", "30d": "30 days"}
_COLUMNS = ("time", "amount", "product", "state", "buyer", "payment")


@dataclass(frozen=True, slots=True)
class SalesPanel:
    """Reads the sales of the deployment's mode, without asking the processor."""

    stored: CheckoutRecords
    reads: ProcessorReads
    livemode: bool
    zone: tzinfo

    async def panel(self) -> Panel:
        """Return what is kept of today, 7 days and 30 days, by currency, and the last sales."""
        now = self.stored.clock.now().astimezone(self.zone)
        last = await newest_sales(self.stored, LAST, livemode=self.livemode)
        booked = await read_bookings(self.stored, last_days(30, now)[0].since, livemode=self.livemode, most=MOST)
        tone: Tone = "attention" if booked.unreadable else "plain"
        found = {one.name: totals(booked.within(one)) for one in periods(now) if one.name in _NAMES}
        takings = tuple(_takings(booked, one, found, now) for one in booked.currencies() if one in found["30d"])
        panel = Panel("Sales", _headline(found), tone, _remarks(booked), takings=takings)
        if booked.is_cut:
            todo = "Type `orrery sales` for the figures."
            panel = Panel("Sales", f"More than {MOST:,} sales in 30 days", tone, todo)
        rows = tuple([await self._row(one, now) for one in last])
        return replace(panel, columns=_COLUMNS, rows=rows) if rows else panel

    async def _row(self, record: AccessRecord, now: datetime) -> tuple[Cell, ...]:
        at, payment = record.paid_at or record.granted_at, record.payment_intent
        reversal = await self.stored.reversals.find(payment) if payment else None
        reference = self.stored.references.of(record.session_id)
        address = self.reads.page_of_payment(payment, livemode=record.livemode) if payment else None
        return (
            utc_text(at),
            money(record.amount_total or 0, record.currency or ""),
            record.title or record.product.name,
            _state(record, reversal.record if reversal else None, now),
            masked(record.email) if record.email else "erased",
            Link(reference, address) if address else reference,
        )


def _state(record: AccessRecord, reversal: Reversal | None, now: datetime) -> str:
    if reversal and any(one.kind == "dispute" for one in returns_of(reversal, record)):
        return "disputed"
    if reversal and reversal.amount_refunded:
        return "refunded" if reversal.refunded else "refunded in part"
    return record.state_at(now)


def _takings(booked: Bookings, currency: str, found: Mapping[str, Mapping[str, Totals]], now: datetime) -> Takings:
    of_periods = {_NAMES[name]: of.get(currency, Totals()) for name, of in found.items()}
    shown = tuple((name, *_figures(each, currency)) for name, each in of_periods.items())
    return Takings(currency.upper(), shown, *_days(booked, currency, now))


def _figures(each: Totals, currency: str) -> tuple[str, str]:
    return decimal(each.net, currency), f"gross {decimal(each.gross, currency)}, {each.sold} sold"


def _days(booked: Bookings, currency: str, now: datetime) -> tuple[tuple[int, ...], str]:
    """Return what was kept of each of 30 days, and that in words."""
    nets = dict.fromkeys((one.name for one in last_days(30, now)), 0)
    for one in booked.found:
        day = one.at and one.at.astimezone(now.tzinfo).date().isoformat()
        if day and day in nets and one.currency == currency:  # the processor's clock may have begun the next day
            nets[day] += one.signed
    if not any(nets.values()):
        return tuple(nets.values()), f"30 days, net: {money(0, currency)} each day."
    best, worst = (choose(nets, key=nets.__getitem__) for choose in (max, min))
    words = f"30 days, net: at most {money(nets[best], currency)} a day ({_day(best)})"
    if nets[worst] < 0:
        words += f", at least {money(nets[worst], currency)} ({_day(worst)})"
    return tuple(nets.values()), f"{words}."


def _day(name: str) -> str:
    day = date.fromisoformat(name)
    return f"{day.day} {day:%b}"


def _headline(found: Mapping[str, Mapping[str, Totals]]) -> str:
    if not found["30d"]:
        return "Nothing was sold in the last 30 days"
    count = sum(each.sold for each in found["today"].values())
    return f"{count} sold today" if count else "Nothing was sold today"


def _remarks(booked: Bookings) -> str:
    remarks = list[str]()
    if booked.unreadable:
        remarks.append(
            f"Not counted, because they cannot be read: {len(booked.unreadable)}. {booked.unreadable[0]}"
        )
    for currency, back in totals(booked.undated()).items():
        amount = money(-back.net, currency)
        remarks.append(f"Not subtracted, because its day is not known: {amount}. See `orrery sales --list`.")
    return " ".join(remarks)
