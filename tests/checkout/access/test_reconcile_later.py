"""Reconciliation long after: what a restore holds back for how long, and how much may wait."""

from datetime import UTC, datetime, timedelta

import pytest

from orrery.checkout.access.desk import Grant
from orrery.checkout.records import Pending
from orrery.ports.store import Put
from orrery.runtime.restored import RESTORED, Restored
from tests.support.checkout import BUYER, PRODUCT, Shop, session, session_json
from tests.support.clock import START

pytestmark = pytest.mark.anyio

DAYS = 86_400
PRICES = ("price_cissp",)


async def states(shop: Shop) -> dict[str, str]:
    """Return each notification's state by its id."""
    return {row.id: row.state for row in await shop.told()}


async def test_who_pays_after_a_restore_is_told(shop: Shop) -> None:
    """A session that was seen unpaid since the restore is new when it is paid: nobody was told of it."""
    await shop.offered("cs_1")
    await shop.store.commit([Put(RESTORED, Restored(at=START).to_bytes())])
    shop.processor.sessions.append(session(payment_status="unpaid", price_ids=PRICES))
    assert (await shop.reconciliation.run()).unpaid == ["cs_1"]
    shop.clock.advance(3 * DAYS)
    shop.processor.sessions[0] = session(price_ids=PRICES)
    report = await shop.reconciliation.run()
    assert (report.granted, report.held_notifications) == (["cs_1"], 0)
    told = await states(shop)
    assert (told["buyer-cs_1"], told["owner-cs_1"]) == ("waiting", "waiting")


async def test_a_dry_run_after_a_restore_catches_up_with_nothing(shop: Shop) -> None:
    """Only a reconciliation that grants ends the silence after a restore."""
    await shop.offered("cs_1")
    await shop.store.commit([Put(RESTORED, Restored(at=START).to_bytes())])
    shop.processor.sessions.append(session(price_ids=PRICES))
    await shop.reconciliation.run(dry_run=True)
    assert (await shop.reconciliation.run()).held_notifications == 1


async def test_a_short_look_after_a_restore_does_not_end_the_silence_further_back(shop: Shop) -> None:
    """What was created before the window of the first reconciliation is still held back by a wider one."""
    await shop.offered("cs_1")
    shop.clock.advance(2 * DAYS)
    await shop.store.commit([Put(RESTORED, Restored(at=shop.clock.now()).to_bytes())])
    shop.processor.sessions.append(session(price_ids=PRICES))
    assert (await shop.reconciliation.run(timedelta(days=1))).examined == 0
    assert (await shop.reconciliation.run()).held_notifications == 1


async def test_the_next_restore_is_silent_again(shop: Shop) -> None:
    """A second restore forgets anew, whatever was caught up with after the first."""
    await shop.offered("cs_1")
    await shop.store.commit([Put(RESTORED, Restored(at=START).to_bytes())])
    await shop.reconciliation.run()
    shop.clock.advance(60)
    await shop.store.commit([Put(RESTORED, Restored(at=shop.clock.now()).to_bytes())])
    shop.processor.sessions.append(session(price_ids=PRICES))
    assert (await shop.reconciliation.run()).held_notifications == 1


async def test_however_many_sessions_are_pending(shop: Shop) -> None:
    """A session that waits is looked at again, whatever number of others comes before it."""
    for number in range(1001):
        name = f"cs_{number:04}"
        refused = Pending(session_id=name, state="refused", reason="x", event_id=None, noted_at=START)
        await shop.store.commit([Put(f"pending:{name}", refused.to_bytes())])
    await shop.offered("last")
    await shop.receive("evt_1", session_json("last", payment_status="unpaid"))
    shop.processor.sessions.append(session("last", price_ids=PRICES))
    shop.clock.advance(40 * DAYS)
    assert (await shop.reconciliation.run()).granted == ["last"]


async def test_a_purchase_on_top_of_access_for_ever() -> None:
    """Who has access to the end of the calendar and buys again is granted like anybody."""
    shop, for_ever = Shop(), datetime(9999, 12, 31, tzinfo=UTC)
    await shop.desk.grant(Grant(BUYER, PRODUCT.key, "import", for_ever, "import_1"), "brought along")
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json()) == "granted"
    assert (await shop.access()).expires_at == for_ever
