"""What was sold, by currency (issue 4, item 9)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.sales import MOST, CurrencySales, sales_panel, tally
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord
from orrery.ports.panels import Panel
from orrery.ports.store import Put
from tests.support.checkout import INDEX_KEY, record, stored_access
from tests.support.clock import START, ManualClock

DAY = timedelta(days=1)
MIDNIGHT = START.replace(hour=0)


async def panel_of(*records: AccessRecord) -> Panel:
    """Return the panel of a store with these records."""
    clock = ManualClock()
    store = MemoryStore(clock)
    for each in records:
        await store.commit(stored_access(each))
    return await sales_panel(CheckoutRecords(store, clock, INDEX_KEY))


@pytest.mark.parametrize(
    ("at", "today", "week", "month"),
    [
        (START, 1, 1, 1),
        (MIDNIGHT, 1, 1, 1),
        (MIDNIGHT - timedelta(microseconds=1), 0, 1, 1),
        (START - 7 * DAY, 0, 1, 1),
        (START - 7 * DAY - timedelta(microseconds=1), 0, 0, 1),
        (START - 30 * DAY, 0, 0, 1),
    ],
)
def test_where_a_sale_belongs(at: datetime, today: int, week: int, month: int) -> None:
    """A sale counts from midnight UTC for today, and to the microsecond for 7 and 30 days."""
    sold = tally([record(granted_at=at)], START)["usd"]
    assert tuple(map(len, (sold.today, sold.week, sold.month))) == (today, week, month)


def test_what_is_no_sale() -> None:
    """What is older than 30 days, a gift and an import are no sales."""
    old = record(granted_at=START - 30 * DAY - timedelta(microseconds=1))
    gift = record(granted_by="owner", amount_total=None, currency=None)
    assert tally([old, gift], START) == {}


def test_currencies_are_never_added_up() -> None:
    """Each currency has sums of its own, the one with most sales first."""
    sold = tally([record(), record(currency="eur"), record(currency="eur", amount_total=1)], START)
    assert list(sold) == ["eur", "usd"]
    assert sold["eur"].today == [4900, 1]
    assert sold["usd"] == CurrencySales([4900], [4900], [4900])


@given(st.lists(st.tuples(st.integers(0, 40 * 86_400), st.integers(0, 10**9), st.sampled_from(["usd", "jpy"]))))
def test_longer_spans_hold_the_shorter_ones(sales: list[tuple[int, int, str]]) -> None:
    """Whatever was sold, 30 days hold 7 and 7 hold today, and all of 30 days is in the sums."""
    records = [
        record(granted_at=START - timedelta(seconds=ago), amount_total=amount, currency=currency)
        for ago, amount, currency in sales
    ]
    sold = tally(records, START)
    for each in sold.values():
        assert len(each.today) <= len(each.week) <= len(each.month)
        assert sum(each.today) <= sum(each.week) <= sum(each.month)
    within = [amount for ago, amount, _ in sales if ago <= 30 * 86_400]
    assert sum(sum(each.month) for each in sold.values()) == sum(within)


async def test_the_panel_in_money_words() -> None:
    """The headline says what today brought, the table the spans; currencies have their own digits."""
    panel = await panel_of(
        record("cs_1"),
        record("cs_2", granted_at=START - DAY),
        record("cs_3", currency="jpy", amount_total=7500),
    )
    assert (panel.tone, panel.headline) == ("plain", "2 sold today for 49.00 USD and 7500 JPY")
    assert panel.columns == ("Currency", "Today", "7 days", "30 days")
    assert panel.rows == (
        ("USD", "49.00 from 1", "98.00 from 2", "98.00 from 2"),
        ("JPY", "7500 from 1", "7500 from 1", "7500 from 1"),
    )


async def test_the_panel_of_a_quiet_day() -> None:
    """Without a sale today, or in 30 days, that is said."""
    assert (await panel_of(record(granted_at=START - DAY))).headline == "Nothing was sold today"
    assert (await panel_of()).headline == "Nothing was sold in the last 30 days"
    assert (await panel_of(record(granted_at=START - 31 * DAY))).rows == ()


async def test_a_look_is_bounded() -> None:
    """Of more sales than are counted only the newest are, and the panel says so."""
    clock = ManualClock(datetime(2026, 3, 2, tzinfo=UTC))
    store = MemoryStore(clock)
    one = record().to_bytes()
    await store.commit([Put("access:cs_1", one)])
    for number in range(MOST + 100):
        await store.commit([Put(f"access-by-time:20260301T{number:06d}:cs", b"cs_1")])
    panel = await sales_panel(CheckoutRecords(store, clock, INDEX_KEY))
    assert panel.rows[0][3].endswith(f"from {MOST}")
    assert "Only the newest 5,000" in panel.todo
