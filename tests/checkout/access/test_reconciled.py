"""What a reconciliation leaves for the owner's page (issue 4, item 9; decision 13)."""

from datetime import timedelta

import pytest

from orrery.checkout.access.reconcile import LATE, MOST_KEPT, WINDOW
from orrery.checkout.records import LastReconciliation
from orrery.ports.processor import Charge, CheckoutSession
from orrery.ports.store import Put
from tests.support.checkout import BUYER, Shop, record, session
from tests.support.clock import START

pytestmark = pytest.mark.anyio


def refused(session_id: str) -> CheckoutSession:
    """Return a paid session for another price than was offered."""
    return session(session_id, price_ids=("price_other",))


async def seen(shop: Shop) -> LastReconciliation | None:
    """Return what is kept of the last run."""
    entry = await shop.store.get("reconciled")
    return LastReconciliation.model_validate_json(entry.value) if entry else None


async def test_what_is_kept_of_a_run(shop: Shop) -> None:
    """A run keeps its time and figures, and the sessions that do not add up, without anything personal."""
    refunded = Charge("ch_1", START, "pi_cs_3", 4900, 4900, "usd", paid=True, disputed=False)
    shop.processor.sessions += [
        refused("cs_1"),
        session("cs_2", payment_status="unpaid", price_ids=("price_cissp",)),
        session("cs_3", price_ids=("price_cissp",)),
    ]
    shop.processor.charges.append(refunded)
    await shop.offered("cs_1", "cs_2")
    await shop.store.commit([Put("access:cs_3", record("cs_3").to_bytes())])
    await shop.reconciliation.run()
    kept = await seen(shop)
    assert kept is not None
    assert (kept.at, kept.since, kept.examined, kept.granted, kept.unpaid) == (START, START - WINDOW, 3, 0, 1)
    assert [(one.session_id, one.reason) for one in kept.paid_without_access] == [("cs_1", "another price")]
    assert [(one.session_id, one.reason) for one in kept.access_without_payment] == [
        ("cs_3", "charge ch_1 was refunded")
    ]
    assert BUYER.encode() not in kept.to_bytes()


async def test_what_is_no_whole_run(shop: Shop) -> None:
    """A dry run and a shorter window leave what was seen before."""
    await shop.reconciliation.run(dry_run=True)
    await shop.reconciliation.run(timedelta(days=1))
    assert await seen(shop) is None
    await shop.reconciliation.run()
    shop.clock.advance(60)
    await shop.reconciliation.run(dry_run=True)
    kept = await seen(shop)
    assert kept is not None
    assert kept.at == START


async def test_what_is_kept_is_bounded(shop: Shop) -> None:
    """Of many sessions that do not add up some are kept, and all are counted."""
    names = [f"cs_{number}" for number in range(MOST_KEPT + 5)]
    shop.processor.sessions += map(refused, names)
    await shop.offered(*names)
    await shop.reconciliation.run()
    kept = await seen(shop)
    assert kept is not None
    assert (len(kept.paid_without_access), kept.without_access) == (MOST_KEPT, MOST_KEPT + 5)


async def test_the_panel_when_all_adds_up(shop: Shop) -> None:
    """After a run without a finding the panel is good, and says when that was."""
    await shop.reconciliation.run()
    panel = await shop.reconciliation.panel()
    assert panel.tone == "good"
    assert "2026-03-01T12:00:00Z. Sessions of 30 days: 0," in panel.todo


async def test_the_panel_when_something_does_not(shop: Shop) -> None:
    """Each finding is a row, and the headline counts each kind that there is."""
    shop.processor.sessions.append(refused("cs_1"))
    await shop.offered("cs_1")
    await shop.reconciliation.run()
    panel = await shop.reconciliation.panel()
    assert (panel.tone, panel.headline) == ("bad", "1 paid without access")
    assert panel.rows == (("cs_1", "paid without access", "another price"),)


async def test_the_panel_when_nothing_runs(shop: Shop) -> None:
    """Before the first run, and an hour after the last one, the panel asks for attention."""
    assert (await shop.reconciliation.panel()).tone == "attention"
    await shop.reconciliation.run()
    shop.clock.advance(LATE.total_seconds() + 1)
    assert (await shop.reconciliation.panel()).tone == "attention"


async def test_the_panel_of_a_shop_without_products() -> None:
    """Where nothing is sold, nothing is asked of the owner."""
    assert (await Shop(products=()).reconciliation.panel()).tone == "plain"
