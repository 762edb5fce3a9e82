"""The sales by currency, for the owner's page. Sums are gross: later refunds are not subtracted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from orrery.checkout.collections import ACCESS_BY_TIME, CheckoutRecords
from orrery.checkout.records import AccessRecord
from orrery.ports.panels import Panel, Tone
from orrery.runtime.collection import Walk, gathered, sortable
from orrery.syntax.money import money

WEEK, MONTH = timedelta(days=7), timedelta(days=30)

MOST = 5000
"""How many of the newest sales are counted: a request for the page must not read a whole store."""


@dataclass(frozen=True, slots=True)
class CurrencySales:
    """The amounts of the sales in one currency since midnight (UTC), in 7 days and in 30, in its smallest unit."""

    today: list[int] = field(default_factory=list[int])
    week: list[int] = field(default_factory=list[int])
    month: list[int] = field(default_factory=list[int])


def tally(records: Iterable[AccessRecord], now: datetime) -> Mapping[str, CurrencySales]:
    """Return the sales in each currency, the one with most sales first, without free access and imports."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    found: dict[str, CurrencySales] = {}
    for record in records:
        if record.amount_total is None or record.currency is None or record.granted_at < now - MONTH:
            continue
        sold = found.setdefault(record.currency, CurrencySales())
        for amounts, since in ((sold.today, midnight), (sold.week, now - WEEK), (sold.month, now - MONTH)):
            if record.granted_at >= since:
                amounts.append(record.amount_total)
    return dict(sorted(found.items(), key=lambda each: (-len(each[1].month), each[0])))


async def sales_panel(stored: CheckoutRecords) -> Panel:
    """Return the sales of today, 7 days and 30 days, by currency."""
    now = stored.clock.now()
    newest = Walk(ACCESS_BY_TIME, MOST, f"{ACCESS_BY_TIME}{sortable(now - MONTH)}:", newest_first=True)
    found = await gathered(stored.access.indexed(newest))
    sold, left_out = tally(found.values(), now), found.unreadable
    tone: Tone = "attention" if left_out else "plain"
    remarks: list[str] = []
    if len(found.records) + len(left_out) == MOST:
        remarks.append(f"Only the newest {MOST:,} were counted.")
    if left_out:
        remarks.append(f"Not counted, because they cannot be read: {len(left_out)}. {left_out[0]}")
    if not sold:
        return Panel("Sales", "Nothing was sold in the last 30 days", tone, " ".join(remarks))
    rows = tuple(
        (currency.upper(), *(_cell(amounts, currency) for amounts in (each.today, each.week, each.month)))
        for currency, each in sold.items()
    )
    columns = ("Currency", "Today", "7 days", "30 days")
    return Panel("Sales", _headline(sold), tone, " ".join(remarks), columns, rows)


def _headline(sold: Mapping[str, CurrencySales]) -> str:
    today = {currency: each.today for currency, each in sold.items() if each.today}
    if not today:
        return "Nothing was sold today"
    sums = [money(sum(amounts), currency) for currency, amounts in today.items()]
    return f"{sum(map(len, today.values()))} sold today for {' and '.join(sums)}"


def _cell(amounts: Sequence[int], currency: str) -> str:
    figure = money(sum(amounts), currency).removesuffix(f" {currency.upper()}")
    return f"{figure} from {len(amounts)}" if amounts else "none"
