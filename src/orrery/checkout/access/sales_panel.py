"""The sales on the owner's page."""

from collections.abc import Mapping, Sequence

from orrery.checkout.access.sales import Bookings, Totals, periods, read_bookings, totals
from orrery.checkout.collections import CheckoutRecords
from orrery.ports.panels import Panel, Tone
from orrery.syntax.money import decimal, money

MOST = 10_000
"""How many sales are counted: a request for the page must not read a whole store."""

_COLUMNS = {"today": "Today", "7d": "7 days", "30d": "30 days"}


async def sales_panel(stored: CheckoutRecords, *, livemode: bool) -> Panel:
    """Return what is kept of the sales of today, 7 days and 30 days, by currency."""
    shown = [one for one in periods(stored.clock.now()) if one.name in _COLUMNS]
    longest = shown[-1]
    booked = await read_bookings(stored, longest.since, livemode=livemode, most=MOST)
    remarks = " ".join(_remarks(booked))
    tone: Tone = "attention" if booked.unreadable else "plain"
    if booked.is_cut:
        return Panel("Sales", f"More than {MOST:,} sales in 30 days", tone, "Type `orrery sales` for the figures.")
    found = [totals(booked.within(one)) for one in shown]
    currencies = [one for one in booked.currencies() if one in found[-1]]
    if not currencies:
        return Panel("Sales", "Nothing was sold in the last 30 days", tone, remarks)
    of_currency = {one: [each.get(one, Totals()) for each in found] for one in currencies}
    rows = tuple((one.upper(), *(_cell(each, one) for each in of_currency[one])) for one in currencies)
    today = {one: each[0] for one, each in of_currency.items() if each[0] != Totals()}
    return Panel("Sales", _headline(today), tone, remarks, ("Currency", *_COLUMNS.values()), rows)


def _remarks(booked: Bookings) -> Sequence[str]:
    remarks = list[str]()
    if booked.unreadable:
        remarks.append(
            f"Not counted, because they cannot be read: {len(booked.unreadable)}. {booked.unreadable[0]}"
        )
    undated = totals(booked.undated())
    for currency, back in undated.items():
        amount = money(-back.net, currency)
        remarks.append(f"Not subtracted, because its day is not known: {amount}. See `orrery sales --list`.")
    return remarks


def _headline(today: Mapping[str, Totals]) -> str:
    sold = {currency: each for currency, each in today.items() if each.sold}
    back = {currency: each for currency, each in today.items() if each.net != each.gross}
    count = sum(each.sold for each in sold.values())
    gross = " and ".join(money(each.gross, currency) for currency, each in sold.items())
    headline = f"{count} sold today for {gross}" if sold else "Nothing was sold today"
    if not back:
        return headline
    gone = " and ".join(money(each.gross - each.net, currency) for currency, each in back.items())
    net = " and ".join(money(each.net, currency) for currency, each in today.items())
    return f"{headline}; {gone} went back; net {net}"


def _cell(each: Totals, currency: str) -> str:
    net, gross = decimal(each.net, currency), decimal(each.gross, currency)
    if each.net == each.gross:
        return f"{net} from {each.sold}" if each.sold else "none"
    return f"{net} net of {gross} from {each.sold}"
