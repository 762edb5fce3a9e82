"""`orrery sales`: what was sold and what is kept of it, in totals or as a list."""

import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.checkout.cli import checkout_of
from orrery.errors import Invalid
from orrery.ports.panels import utc_text
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import Row, left_out, of_all, show
from orrery.runtime.references import References
from orrery.syntax.money import decimal, money

if TYPE_CHECKING:
    from orrery.checkout.access.sales import Booking, Bookings, Period, Totals

_OF_TOTALS = ("gross", "refunded", "disputed", "net")
_AMOUNTS = ("amount", *_OF_TOTALS)
_TOTALS = ("period", "currency", "sold", *_OF_TOTALS)
_LIST = ("at", "what", "product", "amount", "number", "reference")
_CSV_TOTALS = ("period", "since", "until", "currency", "sold", *_OF_TOTALS)
_CSV_LIST = ("at", "what", "product", "currency", "amount", "number", "reference")


def command(
    period: Annotated[
        str | None,
        typer.Argument(help="today, 7d, 30d, month, last-month, a day, or two such as 2026-11-01..2026-11-30."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List sales, refunds and disputes.")] = False,  # noqa: FBT002  a flag of the command line
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="With --list: how many, the newest first.")] = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV for a spreadsheet.")] = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Show what was sold, what went back, and what is kept, before the processor's fees.

    Without PERIOD, it shows each named period, and lists 30 days. Currencies are never added up. --json and --csv
    list all.
    """
    if as_json and as_csv:
        raise Invalid("Choose one of --json and --csv.")

    async def read(services: Services) -> "tuple[list[Period], Bookings, References]":
        from orrery.checkout.access.sales import period_of, periods, read_bookings  # noqa: PLC0415  it reads the store

        checkout = checkout_of(services)
        stored, livemode = checkout.stored, checkout.plan.livemode
        now = stored.clock.now().astimezone(checkout.plan.zone)
        chosen = [period_of(period or "30d", now)] if period or listed else periods(now)
        booked = await read_bookings(stored, min(one.since for one in chosen), livemode=livemode)
        return chosen, booked, services[References]

    chosen, booked, references = runner.run(read)
    if listed:
        rows = [_entry(one, references) for one in (*booked.within(chosen[0]), *booked.undated())]
    else:
        rows = list(_totals(chosen, booked))
    if as_csv:
        _write_csv(rows, _CSV_LIST if listed else _CSV_TOTALS)
        left_out(booked.unreadable)
    else:
        columns, empty = _LIST if listed else _TOTALS, "Nothing was sold, and nothing went back."
        shown = rows if as_json or not listed else rows[:limit]
        more = of_all(len(shown), len(rows))
        if not as_json:
            shown = [with_amounts(row, money if listed else decimal) for row in shown]
        show(shown, columns, as_json=as_json, empty=empty, unreadable=booked.unreadable, more=more)


def _write_csv(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Write rows with a head. There is no session's id among the columns: it opens its buyer's access."""
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        times = {name: utc_text(value) for name, value in row.items() if isinstance(value, datetime)}
        writer.writerow({**with_amounts(row, decimal), **times})


def with_amounts(row: Row, text_of: Callable[[int, str], str]) -> Row:
    """Return a row whose amounts are text in their currency's main unit, and whose currency is in capitals."""
    currency = str(row["currency"])
    amounts = {name: text_of(value, currency) for name in _AMOUNTS if isinstance(value := row.get(name), int)}
    return {**row, **amounts, "currency": currency.upper()}


def _totals(chosen: "Sequence[Period]", booked: "Bookings") -> Iterable[Row]:
    from orrery.checkout.access.sales import Totals, totals  # noqa: PLC0415  the same

    currencies = booked.currencies()
    for one in chosen:
        found = totals(booked.within(one))
        for currency in currencies:
            yield _of_totals(one.name, currency, found.get(currency, Totals()), one)
    for currency, back in totals(booked.undated()).items():
        yield _of_totals("day unknown", currency, back, None)


def _of_totals(name: str, currency: str, each: "Totals", period: "Period | None") -> Row:
    days = {"since": period.since, "until": period.until} if period else {"since": None, "until": None}
    return {"period": name, **days, **each.row(currency)}


def _entry(booking: "Booking", references: References) -> Row:
    return {
        "at": booking.at,
        "what": booking.kind,
        "product": booking.product,
        "currency": booking.currency,
        "amount": booking.signed,
        "number": references.number_of(booking.session_id, booking.number),
        "reference": references.of(booking.session_id),
        "session_id": booking.session_id,
    }
