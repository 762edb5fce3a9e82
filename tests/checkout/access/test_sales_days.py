"""The days and periods of what was sold, which are the seller's (issue 39, line 1)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from orrery.checkout.access.sales import Period, Totals, period_of, periods, read_bookings, totals
from orrery.checkout.records import RefundedTotal
from orrery.errors import Invalid
from orrery.ports.store import Put
from tests.checkout.access.test_sales import DAY, NOW, reversal
from tests.support.checkout import Shop, record, stored_access
from tests.support.clock import ManualClock
from tests.support.tables import each_case


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("today", datetime(2026, 3, 10, tzinfo=UTC), datetime(2026, 3, 11, tzinfo=UTC)),
        ("7d", datetime(2026, 3, 4, tzinfo=UTC), datetime(2026, 3, 11, tzinfo=UTC)),
        ("30d", datetime(2026, 2, 9, tzinfo=UTC), datetime(2026, 3, 11, tzinfo=UTC)),
        ("month", datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 11, tzinfo=UTC)),
        ("last-month", datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-02-28", datetime(2026, 2, 28, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)),
        ("2025-12-31..2026-01-01", datetime(2025, 12, 31, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)),
    ],
)
def test_a_period_is_whole_days(text: str, since: datetime, until: datetime) -> None:
    """A period holds its first day from midnight UTC and its last one to the end."""
    found = period_of(text, NOW)
    assert found == Period(text, since, until)
    edges = (since - timedelta(microseconds=1), since, until - timedelta(microseconds=1), until, None)
    assert [found.holds(one) for one in edges] == [False, True, True, False, False]


@each_case(
    "text, since, until",
    [
        ("today", "2026-11-01T00:00+01:00", "2026-11-02T00:00+01:00"),
        ("last-month", "2026-10-01T00:00+02:00", "2026-11-01T00:00+01:00"),
        ("2026-10-25", "2026-10-25T00:00+02:00", "2026-10-26T00:00+01:00"),
    ],
)
def test_a_period_has_the_days_of_the_seller(text: str, since: str, until: str) -> None:
    """The last day of a month ends at the seller's midnight, also where summer time ends within it."""
    now = datetime(2026, 10, 31, 23, 30, tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin"))
    assert period_of(text, now) == Period(text, datetime.fromisoformat(since), datetime.fromisoformat(until))


async def test_a_refund_over_the_edge_of_a_month_is_on_its_own_day() -> None:
    """A sale of the last evening and its refund half an hour later are in two months, for the page as well."""
    sold_at = datetime(2026, 10, 31, 22, 45, tzinfo=UTC)
    shop = Shop(ManualClock(sold_at), seller={"time_zone": "Europe/Berlin"})
    await shop.store.commit(stored_access(record(paid_at=sold_at, granted_at=sold_at)))
    back_at = sold_at + timedelta(minutes=30)
    back = reversal(amount_refunded=1000, refunds=(RefundedTotal(at=back_at, total=1000),))
    await shop.store.commit([Put(f"taken-back:{back.payment_intent}", back.to_bytes())])
    shop.clock.advance(3600)
    now = shop.clock.now().astimezone(shop.plan.zone)
    booked = await read_bookings(shop.stored, sold_at - DAY, livemode=False)
    nets = {one.name: totals(booked.within(one)).get("usd", Totals()).net for one in periods(now)}
    assert (nets["last-month"], nets["month"], nets["today"]) == (4900, -1000, -1000)
    (takings,) = (panel := await shop.sales.panel()).takings
    assert takings.days[-2:] == (4900, -1000)
    assert panel.headline == "Nothing was sold today"


def test_every_named_period_can_be_asked_for() -> None:
    """The names are those that `orrery sales` shows."""
    assert [period_of(one.name, NOW) for one in periods(NOW)] == periods(NOW)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-02-30", "2026-3-1", "..", "..2026-01-01", "9999-12-31", "2026-01-01..", "2026-W48"],
)
def test_what_is_no_period(text: str) -> None:
    """A period that cannot be read is one sentence."""
    with pytest.raises(Invalid, match="A period is today"):
        period_of(text, NOW)


def test_a_period_that_ends_before_it_begins() -> None:
    """The sentence says how it is written."""
    with pytest.raises(Invalid, match=r"2026-01-01\.\.2026-02-01"):
        period_of("2026-02-01..2026-01-01", NOW)
