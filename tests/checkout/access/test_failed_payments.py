"""A payment that was outstanding and then failed: reconciliation learns it, once (decision 48)."""

from typing import Any

import pytest

from orrery.checkout.records import Pending
from orrery.ports.processor import Charge
from orrery.ports.processor.errors import ItemUnreadable
from orrery.runtime.outbox import Notification
from tests.support.checkout import Shop, session, session_json
from tests.support.clock import START

pytestmark = pytest.mark.anyio

DAYS = 86_400
PRICES = ("price_cissp",)
UNPAID: dict[str, Any] = {"payment_status": "unpaid", "price_ids": PRICES}


def charge(name: str, status: str) -> Charge:
    """Return a charge of the session's payment."""
    return Charge(name, START, "pi_cs_1", 4900, 0, "usd", paid=False, disputed=False, status=status)


async def completed(*charges: Charge) -> Shop:
    """Return a shop with one session that was completed unpaid, with these charges, the newest first."""
    shop = Shop()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    shop.processor.sessions.append(session(**UNPAID))
    shop.processor.charges += charges
    return shop


async def failed(*charges: Charge) -> Shop:
    """Return the same after a reconciliation."""
    shop = await completed(*charges)
    await shop.reconciliation.run()
    return shop


async def pushes(shop: Shop) -> list[Notification]:
    """Return what the owner was told of payments that failed."""
    return [row for row in await shop.told() if row.id.startswith("payment-failed-")]


async def noted(shop: Shop) -> Pending:
    """Return what is noted about the session."""
    (entry,) = await shop.entries("pending:")
    return Pending.model_validate_json(entry.value)


async def test_a_payment_that_failed_is_told_once() -> None:
    """The success page says failed, and the owner is told once, in a low voice, that nothing needs doing."""
    shop = await completed(charge("ch_1", "failed"))
    report = await shop.reconciliation.run()
    assert (report.payment_failed, report.unpaid) == (["cs_1"], [])
    assert (await shop.session_states.of("cs_1")).state == "failed"
    (push,) = await pushes(shop)
    assert (push.channel, push.priority) == ("push", "low")
    assert "isc2/cissp" in push.body
    assert "failed" in push.body


async def test_what_failed_stays_failed_as_long_as_its_offer_is_kept() -> None:
    """The processor would say of such a session that it is completed; so the failure is not forgotten sooner."""
    shop = await failed(charge("ch_1", "failed"))
    shop.clock.advance(399 * DAYS)
    assert (await shop.session_states.of("cs_1")).state == "failed"


async def test_what_is_decided_is_not_asked_again() -> None:
    """The next reconciliation lists it as failed, asks for nothing of it, and tells nobody again."""
    shop = await failed(charge("ch_1", "failed"))
    assert shop.processor.payments_asked_for == ["pi_cs_1"]
    for days in (1, 40):
        shop.clock.advance(days * DAYS)
        await shop.reconciliation.run()
    assert shop.processor.payments_asked_for == ["pi_cs_1"]
    assert shop.processor.asked_for == []
    assert len(await pushes(shop)) == 1
    assert (await noted(shop)).failed_at == START


@pytest.mark.parametrize(
    "charges", [[charge("ch_2", "pending"), charge("ch_1", "failed")], [charge("ch_1", "pending")], []]
)
async def test_a_payment_that_may_still_come(charges: list[Charge]) -> None:
    """The newest charge decides: a declined card before a payment that is under way is no failure."""
    shop = await completed(*charges)
    report = await shop.reconciliation.run()
    assert (report.payment_failed, report.unpaid) == ([], ["cs_1"])
    assert (await shop.session_states.of("cs_1")).state == "pending"
    assert await pushes(shop) == []


async def test_a_charge_that_cannot_be_read_decides_nothing() -> None:
    """When the newest charge cannot be read, the payment counts as outstanding still."""
    shop = await completed(charge("ch_1", "failed"))
    shop.processor.unreadable.append(ItemUnreadable("charge", "ch_2", ("status",)))
    assert (await shop.reconciliation.run()).unpaid == ["cs_1"]


async def test_a_dry_run_only_tells() -> None:
    """A dry run lists the failed payment and writes nothing."""
    shop = await completed(charge("ch_1", "failed"))
    before = await shop.entries()
    assert (await shop.reconciliation.run(dry_run=True)).payment_failed == ["cs_1"]
    assert await shop.entries() == before


async def test_paid_after_all() -> None:
    """A payment that comes after it had failed opens the access like any other."""
    shop = await failed(charge("ch_1", "failed"))
    shop.processor.sessions[0] = session(price_ids=PRICES)
    assert (await shop.reconciliation.run()).granted == ["cs_1"]
    assert (await shop.session_states.of("cs_1")).state == "granted"


async def test_a_session_of_another_program(shop: Shop) -> None:
    """A foreign session that is unpaid is no payment of ours, and its charges are not asked for."""
    shop.processor.sessions.append(session(**UNPAID, metadata={}))
    assert (await shop.reconciliation.run()).payment_failed == []
    assert shop.processor.payments_asked_for == []
