"""The sales by currency, for the owner's page. Sums are gross: later refunds are not subtracted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
class SalesTotal:
    """Some sales in one currency; `total` in its smallest unit."""

    count: int = 0
    total: int = 0

    def with_one(self, amount: int) -> "SalesTotal":
        return SalesTotal(self.count + 1, self.total + amount)


@dataclass(frozen=True, slots=True)
class CurrencySales:
    """The sales in one currency since midnight (UTC), in 7 days and in 30."""

    today: SalesTotal = SalesTotal()
    week: SalesTotal = SalesTotal()
    month: SalesTotal = SalesTotal()


def tally(records: Iterable[AccessRecord], now: datetime) -> Mapping[str, CurrencySales]:
    """Return the sales in each currency, the one with most sales first, without free access and imports."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    found: dict[str, CurrencySales] = {}
    for record in records:
        if record.amount_total is None or record.currency is None or record.granted_at < now - MONTH:
            continue
        amount, at, known = record.amount_total, record.granted_at, found.get(record.currency, CurrencySales())
        found[record.currency] = CurrencySales(
            known.today.with_one(amount) if at >= midnight else known.today,
            known.week.with_one(amount) if at >= now - WEEK else known.week,
            known.month.with_one(amount),
        )
    return dict(sorted(found.items(), key=lambda each: (-each[1].month.count, each[0])))


class Sales:
    """Counts the access records of paid sessions."""

    def __init__(self, stored: CheckoutRecords) -> None:
        self._stored = stored

    async def panel(self) -> Panel:
        """Return today, 7 days and 30 days, by currency."""
        now = self._stored.clock.now()
        newest = Walk(ACCESS_BY_TIME, MOST, f"{ACCESS_BY_TIME}{sortable(now - MONTH)}:", newest_first=True)
        found = await gathered(self._stored.access.indexed(newest))
        records, left_out = found.values(), found.unreadable
        sold = tally(records, now)
        tone: Tone = "attention" if left_out else "plain"
        remarks = [f"Only the newest {MOST:,} were counted."] if len(records) + len(left_out) == MOST else []
        remarks += (
            [f"Not counted, because they cannot be read: {len(left_out)}. {left_out[0]}"] if left_out else []
        )
        if not sold:
            return Panel("Sales", "Nothing was sold in the last 30 days", tone, " ".join(remarks))
        rows, columns = tuple(_row(*each) for each in sold.items()), ("Currency", "Today", "7 days", "30 days")
        return Panel("Sales", _headline(sold), tone, " ".join(remarks), columns, rows)


def _headline(sold: Mapping[str, CurrencySales]) -> str:
    today = {currency: each.today for currency, each in sold.items() if each.today.count}
    if not today:
        return "Nothing was sold today"
    sums = [money(each.total, currency) for currency, each in today.items()]
    return f"{sum(each.count for each in today.values())} sold today for {' and '.join(sums)}"


def _row(currency: str, sold: CurrencySales) -> tuple[str, ...]:
    return currency.upper(), *(_cell(each, currency) for each in (sold.today, sold.week, sold.month))


def _cell(each: SalesTotal, currency: str) -> str:
    figure = money(each.total, currency).removesuffix(f" {currency.upper()}")
    return f"{figure} from {each.count}" if each.count else "none"
