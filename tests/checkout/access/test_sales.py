"""What was sold and what is kept of it, by day and currency (decision 58)."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.sales import (
    MOST,
    read_bookings,
    returns_of,
    sale_of,
    totals,
)
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.disputes import PaymentDispute
from orrery.checkout.records import AccessRecord, RefundedTotal, Reversal
from orrery.ports.panels import Link, Panel
from orrery.ports.processor import Charge, ChargeEvent, Dispute
from orrery.ports.store import Put
from orrery.runtime.references import References
from tests.support.checkout import BUYER, INDEX_KEY, PRODUCT, Shop, record, session, session_json, stored_access
from tests.support.clock import START, ManualClock
from tests.support.tables import each_case

DAY = timedelta(days=1)
MIDNIGHT = START.replace(hour=0)
NOW = datetime(2026, 3, 10, 15, tzinfo=UTC)


async def shop_of(*records: AccessRecord, reversals: tuple[Reversal, ...] = (), livemode: bool = False) -> Shop:
    """Return a shop whose store has these records."""
    shop = Shop(livemode=livemode)
    for each in records:
        await shop.store.commit(stored_access(each))
    for one in reversals:
        await shop.store.commit([Put(f"taken-back:{one.payment_intent}", one.to_bytes())])
    return shop


async def panel_of(*records: AccessRecord, reversals: tuple[Reversal, ...] = ()) -> Panel:
    """Return the panel of a store with these records."""
    return await (await shop_of(*records, reversals=reversals)).sales.panel()


def figures(panel: Panel) -> dict[str, list[tuple[str, str]]]:
    """Return what is kept of today, 7 days and 30, and what stands beside it, by currency."""
    return {one.currency: [(kept, beside) for _, kept, beside in one.periods] for one in panel.takings}


def reversal(session_id: str = "cs_1", **other: Any) -> Reversal:  # noqa: ANN401  any field of a reversal
    """Return what became of the payment of a session."""
    fields: dict[str, Any] = {"charge_id": "ch_1", "currency": "usd", "amount": 4900} | other
    return Reversal(payment_intent=f"pi_{session_id}", session_id=session_id, **fields)


def dispute(status: str, taken_at: datetime | None = START, amount: int = 4900) -> PaymentDispute:
    """Return a dispute in some state."""
    return PaymentDispute(
        dispute_id="du_1", status=status, changed_at=START, amount=amount, currency="usd", taken_at=taken_at
    )


def test_a_sale_is_booked_when_it_was_paid() -> None:
    """A sale that was found late is booked on its own day; of an earlier release, when access was granted."""
    late, old = record(paid_at=START - DAY), record()
    assert [one.at for each in (late, old) for one in sale_of(each)] == [START - DAY, START]
    assert list(sale_of(record(amount_total=None, currency=None))) == []


@each_case(
    ("found", "booked"),
    [
        (reversal(), []),
        (
            reversal(
                amount_refunded=4900,
                refunds=(RefundedTotal(at=START, total=1000), RefundedTotal(at=START + DAY, total=4900)),
            ),
            [("refund", START, 1000), ("refund", START + DAY, 3900)],
        ),
        (reversal(amount_refunded=700), [("refund", None, 700)]),
        (
            reversal(amount_refunded=900, refunds=(RefundedTotal(at=START, total=700),)),
            [("refund", START, 700), ("refund", None, 200)],
        ),
        (reversal(dispute="needs_response", disputes=(dispute("needs_response"),)), [("dispute", START, 4900)]),
        (reversal(dispute="lost", disputes=(dispute("lost", None),)), [("dispute", None, 4900)]),
        (reversal(dispute="won", disputes=(dispute("won"),)), []),
        (reversal(dispute="warning_needs_response", disputes=(dispute("warning_needs_response", None),)), []),
        (reversal(dispute="disputed", amount_refunded=900), [("refund", None, 900), ("dispute", None, 4000)]),
        (reversal(dispute="lost", amount=None), [("dispute", None, 4900)]),
    ],
)
def test_what_went_back(found: Reversal, booked: list[tuple[str, datetime | None, int]]) -> None:
    """A refund is the difference of successive totals; what only a charge shows has no day."""
    assert [(one.kind, one.at, one.amount) for one in returns_of(found, record())] == booked
    assert list(returns_of(found, record(amount_total=None))) == []


def charged(refunded: int) -> Charge:
    """Return the charge of `cs_1` with so much refunded."""
    return Charge("ch_1", START, "pi_cs_1", 4900, refunded, "usd", paid=True, disputed=False)


def contested(status: str) -> Dispute:
    """Return a dispute of that charge."""
    return Dispute("du_1", "ch_1", "pi_cs_1", 2000, "usd", status)


HAPPENED = (
    ChargeEvent(START + DAY, charged(1000)),
    ChargeEvent(START + 2 * DAY, charged(1500)),
    ChargeEvent(START + 3 * DAY, contested("warning_needs_response")),
    ChargeEvent(START + 4 * DAY, contested("needs_response")),
)


@each_case("order", [*permutations(HAPPENED)])
async def test_events_may_be_read_in_any_order(order: tuple[ChargeEvent, ...]) -> None:
    """What is booked does not depend on when an event is read, or how often."""
    shop = Shop()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    shop.processor.add(session(price_ids=("price_cissp",)))
    for event in order:
        shop.processor.charge_events = [event]
        await shop.reconciliation.run()
    booked = await read_bookings(shop.stored, START - DAY, livemode=False)
    went_back = [(one.kind, one.at, one.amount) for one in booked.found if one.kind != "sale"]
    assert sorted(went_back) == [
        ("dispute", START + 4 * DAY, 2000),
        ("refund", START + DAY, 1000),
        ("refund", START + 2 * DAY, 500),
    ]


async def test_a_lost_dispute_keeps_the_day_on_which_it_took_the_money() -> None:
    """It is decided weeks later; a dispute that was won takes nothing."""
    for decided, days in (("lost", [START + DAY]), ("won", [])):
        shop = Shop()
        await shop.offered("cs_1")
        await shop.receive("evt_1", session_json())
        shop.processor.add(session(price_ids=("price_cissp",)))
        for at, status in ((START + DAY, "needs_response"), (START + 20 * DAY, decided)):
            shop.processor.charge_events = [ChargeEvent(at, contested(status))]
            await shop.reconciliation.run()
        booked = await read_bookings(shop.stored, START - DAY, livemode=False)
        assert [one.at for one in booked.found if one.kind == "dispute"] == days


async def test_the_webhooks_time_is_the_sales() -> None:
    """An event that was delivered a day late is booked on the day of the payment."""
    shop = Shop()
    await shop.offered("cs_1")
    shop.clock.advance(DAY.total_seconds())
    await shop.receive("evt_1", session_json())
    assert [one.at for one in (await read_bookings(shop.stored, START - DAY, livemode=False)).found] == [START]
    assert (await read_bookings(shop.stored, START + timedelta(hours=1), livemode=False)).found == []


def test_currencies_are_never_added_up() -> None:
    """Each currency has its own totals."""
    sold = [record(), record(currency="eur"), record(currency="eur", amount_total=1)]
    found = totals(one for each in sold for one in sale_of(each))
    assert {currency: (each.sold, each.gross, each.net) for currency, each in found.items()} == {
        "usd": (1, 4900, 4900),
        "eur": (2, 4901, 4901),
    }


async def test_the_panel_in_money_words() -> None:
    """The headline counts today's sales, the figures are by period; currencies have their own digits."""
    panel = await panel_of(
        record("cs_1"),
        record("cs_2", granted_at=START - DAY),
        record("cs_3", currency="jpy", amount_total=7500),
    )
    assert (panel.tone, panel.headline) == ("plain", "2 sold today")
    assert [name for name, _, _ in panel.takings[0].periods] == ["Today", "7 days", "30 days"]
    assert figures(panel) == {
        "USD": [("49.00", "gross 49.00, 1 sold"), *[("98.00", "gross 98.00, 2 sold")] * 2],
        "JPY": [("7500", "gross 7500, 1 sold")] * 3,
    }


async def test_the_panel_subtracts_what_went_back() -> None:
    """After a refund and a dispute of three sales, one is left; gross is beside it."""
    refunds = (RefundedTotal(at=START, total=4900),)
    panel = await panel_of(
        *(record(f"cs_{number}") for number in (1, 2, 3)),
        reversals=(
            reversal("cs_1", amount_refunded=4900, refunds=refunds),
            reversal("cs_2", dispute="needs_response", disputes=(dispute("needs_response"),)),
        ),
    )
    assert panel.headline == "3 sold today"
    assert figures(panel) == {"USD": [("49.00", "gross 147.00, 3 sold")] * 3}


async def test_a_refund_of_a_sale_of_long_ago_counts_today() -> None:
    """What goes back is booked on its own day, whatever the age of its sale, and the line goes below nothing."""
    refunds = (RefundedTotal(at=START, total=4900),)
    old = record(granted_at=START - 300 * DAY)
    panel = await panel_of(old, reversals=(reversal(amount_refunded=4900, refunds=refunds),))
    assert panel.headline == "Nothing was sold today"
    assert figures(panel) == {"USD": [("-49.00", "gross 0.00, 0 sold")] * 3}
    assert panel.takings[0].days == (*[0] * 29, -4900)
    assert panel.takings[0].in_words.endswith("at least -49.00 USD (1 Mar).")
    same_day = await panel_of(record("cs_1"), reversals=(reversal("cs_1", amount_refunded=4900, refunds=refunds),))
    assert same_day.takings[0].in_words == "30 days, net: 0.00 USD each day."


async def test_the_line_has_a_day_each() -> None:
    """The first of the 30 days is counted, the day before is not, and the best one is named."""
    panel = await panel_of(
        record("cs_1", granted_at=MIDNIGHT - 29 * DAY),
        record("cs_2", granted_at=MIDNIGHT - 29 * DAY - timedelta(seconds=1)),
        record("cs_3", granted_at=START - DAY, amount_total=9800),
    )
    assert panel.takings[0].days == (4900, *[0] * 27, 9800, 0)
    assert panel.takings[0].in_words == "30 days, net: at most 98.00 USD a day (28 Feb)."
    assert figures(panel)["USD"][2] == ("147.00", "gross 147.00, 2 sold")


async def test_a_sale_of_a_clock_that_is_ahead() -> None:
    """What the processor booked tomorrow already is in the list, and in no figure until then."""
    panel = await panel_of(record(paid_at=MIDNIGHT + DAY))
    assert (panel.headline, panel.takings, len(panel.rows)) == ("Nothing was sold in the last 30 days", (), 1)
    both = await panel_of(record("cs_1"), record("cs_2", paid_at=MIDNIGHT + DAY))
    assert both.takings[0].days[-1] == 4900


async def test_the_last_sales_are_listed() -> None:
    """The newest ten, whatever their age, with what became of them; free access is no sale."""
    disputed = reversal("cs_2", dispute="needs_response", disputes=(dispute("needs_response"),))
    shop = await shop_of(
        record("cs_0", amount_total=None),
        record("cs_1", granted_at=START - DAY, title="Security"),
        record("cs_2", granted_at=START - 2 * DAY, email=""),
        record("cs_3", granted_at=START - 3 * DAY),
        record("cs_4", granted_at=START - 4 * DAY, revoked_at=START),
        *(record(f"cs_{number}", granted_at=START - 400 * DAY) for number in range(5, 13)),
        reversals=(disputed, reversal("cs_3", amount_refunded=4900), reversal("cs_5", amount_refunded=100)),
    )
    panel = await shop.sales.panel()
    assert panel.columns == ("time", "amount", "product", "state", "buyer", "payment")
    assert len(panel.rows) == 10
    first, second, third, fourth, *older = panel.rows
    reference = References.of_store(INDEX_KEY).of("cs_1")
    assert first[:5] == ("2026-02-28T12:00:00Z", "49.00 USD", "Security", "open", "a…@example.org")
    assert first[5] == Link(reference, "https://processor.example/payments/pi_cs_1")
    assert [one[3] for one in (second, third, fourth)] == ["disputed", "refunded", "revoked"]
    assert second[4] == "erased"
    assert {one[3] for one in older} <= {"open", "refunded in part"}
    assert BUYER not in str(panel)


async def test_what_has_no_day_is_a_remark() -> None:
    """It is in no figure, and is not passed over in silence."""
    panel = await panel_of(record(), reversals=(reversal(amount_refunded=4900),))
    assert figures(panel)["USD"][0] == ("49.00", "gross 49.00, 1 sold")
    assert panel.todo == "Not subtracted, because its day is not known: 49.00 USD. See `orrery sales --list`."


async def test_the_panel_of_a_quiet_day() -> None:
    """Without a sale today, or in 30 days, that is reported."""
    assert (await panel_of(record(granted_at=START - DAY))).headline == "Nothing was sold today"
    assert (await panel_of()) == Panel("Sales", "Nothing was sold in the last 30 days")
    assert (await panel_of(record(granted_at=START - 31 * DAY))).takings == ()


async def test_a_look_is_bounded() -> None:
    """Of more sales than are counted no part is shown as if it were all: the command counts them."""
    shop = Shop(ManualClock(datetime(2026, 3, 2, tzinfo=UTC)))
    await shop.store.commit([Put("access:cs_1", record().to_bytes())])
    for number in range(MOST):
        await shop.store.commit([Put(f"access-by-time:20260301T{number:06d}:cs", b"cs_1")])
    panel = await shop.sales.panel()
    assert (panel.takings, "More than 10,000" in panel.headline) == ((), True)
    assert "`orrery sales`" in panel.todo


async def test_test_sales_are_no_money() -> None:
    """A store that has both modes counts those of the service's own."""
    panel = await panel_of(record("cs_1"), record("cs_2", livemode=True))
    assert (panel.headline, len(panel.rows)) == ("1 sold today", 1)


async def test_a_checklist_until_the_first_live_sale() -> None:
    """It names each step that is left, and is gone with the first sale in live mode, of a service in it."""
    shop = await shop_of(record(livemode=True))
    panel = await shop.going_live.panel()
    assert panel
    assert [step for step, _ in panel.rows] == ["acceptance of what is sold", "live mode", "first sale"]
    assert all(todo for _, todo in panel.rows)
    unset = await Shop(products=(), livemode=True).going_live.panel()
    assert unset
    assert [step for step, _ in unset.rows] == ["checkout", "first sale"]
    assert await (await shop_of(record(livemode=True), livemode=True)).going_live.panel() is None


@pytest.mark.parametrize("livemode", [False, True])
async def test_a_sale_that_our_clock_grants_before_it_was_paid(livemode: bool) -> None:  # noqa: FBT001  a case
    """The processor's clock may be ahead of ours over midnight: the sale is in its own day."""
    clock = ManualClock()
    store = MemoryStore(clock)
    early = record(granted_at=MIDNIGHT - timedelta(seconds=1), paid_at=MIDNIGHT, livemode=livemode)
    await store.commit(stored_access(early))
    booked = await read_bookings(CheckoutRecords(store, clock, INDEX_KEY), MIDNIGHT, livemode=livemode)
    assert len(booked.found) == 1


async def test_an_undated_part_is_not_booked_again() -> None:
    """What an earlier release knew without a day keeps none when more goes back."""
    shop = Shop()
    await shop.store.commit(stored_access(record()))
    await shop.store.commit([Put("taken-back:pi_cs_1", reversal(amount_refunded=2000).to_bytes())])
    shop.processor.charge_events = [ChargeEvent(START + DAY, charged(3000))]
    await shop.reconciliation.run()
    booked = await read_bookings(shop.stored, START - DAY, livemode=False)
    went_back = [(one.at, one.amount) for one in booked.found if one.kind == "refund"]
    assert went_back == [(START + DAY, 1000), (None, 2000)]
    shop.processor.charge_events = [ChargeEvent(START, charged(2000))]
    await shop.reconciliation.run()
    booked = await read_bookings(shop.stored, START - DAY, livemode=False)
    assert sorted((one.at, one.amount) for one in booked.found if one.kind == "refund" and one.at) == [
        (START, 2000),
        (START + DAY, 1000),
    ]


async def test_a_delayed_payment_is_booked_when_it_came() -> None:
    """Its session is days older than its money."""
    shop = Shop()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    shop.clock.advance(6 * DAY.total_seconds())
    shop.processor.add(session(price_ids=("price_cissp",)))
    await shop.reconciliation.run()
    assert (await shop.access()).paid_at == START + 6 * DAY


async def test_a_paid_session_that_the_owner_grants_is_a_sale() -> None:
    """The money came, and was refused access by a check; its refund is booked, too."""
    shop = Shop()
    shop.processor.add(session("cs_test_1", amount_total=4900))
    await shop.desk.grant(BUYER, PRODUCT.key, "paid", session_id="cs_test_1")
    booked = await read_bookings(shop.stored, START - DAY, livemode=False)
    assert [(one.kind, one.amount) for one in booked.found] == [("sale", 4900)]
    await shop.desk.grant(BUYER, PRODUCT.key, "a friend")
    assert len((await read_bookings(shop.stored, START - DAY, livemode=False)).found) == 1
