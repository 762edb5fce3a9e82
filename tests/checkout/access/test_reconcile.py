"""Reconciliation (decision 13), soon and long after: what was missed is granted, and what is wrong is listed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.access.reconcile import WINDOW
from orrery.checkout.records import StoredDiscrepancy, WithheldSession
from orrery.ports.processor import Charge, CheckoutSession
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put, StoreEntry
from orrery.runtime.restored import RESTORED, Restored
from tests.support.checkout import BUYER, PRODUCT, Shop, session, session_json
from tests.support.clock import START
from tests.support.tables import each_case

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def listed(session_id: str = "cs_1", **other: Any) -> CheckoutSession:  # noqa: ANN401  any field of a session
    """Return a completed session of an hour ago, as the processor lists it: with its prices."""
    return session(session_id, **({"created": START - HOUR, "price_ids": ("price_cissp",)} | other))


def shop_with(*sessions: CheckoutSession) -> Shop:
    """Return a shop whose processor lists these sessions."""
    shop = Shop()
    shop.processor.add(*sessions)
    return shop


def charge(session_id: str, **other: Any) -> Charge:  # noqa: ANN401  any field of a charge
    """Return a paid charge of that session."""
    fields: dict[str, Any] = {
        "created": START,
        "payment_intent": f"pi_{session_id}",
        "amount": 4900,
        "amount_refunded": 0,
        "currency": "usd",
        "paid": True,
        "disputed": False,
    }
    return Charge(f"ch_{session_id}", **(fields | other))


async def test_a_missed_session_is_granted() -> None:
    """A paid session that no event told of gets its record, and its notifications go out."""
    shop = shop_with(listed())
    await shop.offered("cs_1")
    report = await shop.reconciliation.run()
    assert (report.examined, report.granted, report.with_access) == (1, ["cs_1"], 0)
    access = await shop.access()
    assert (access.granted_by, access.event_id) == ("reconcile", None)
    assert {row.id: row.state for row in await shop.told()} == {"buyer-cs_1": "waiting", "owner-cs_1": "waiting"}


async def test_a_second_run_does_nothing() -> None:
    """What was granted is found granted, and nothing is written again but the figures of the run."""
    shop = shop_with(listed(), listed("cs_2", payment_status="unpaid"), listed("cs_3", metadata={}))
    await shop.offered("cs_1", "cs_2")
    await shop.reconciliation.run()
    before = await entries(shop)
    report = await shop.reconciliation.run()
    assert (report.examined, report.with_access, report.granted) == (3, 1, [])
    assert (report.unpaid, report.foreign) == (["cs_2"], 1)
    assert await entries(shop) == before


async def entries(shop: Shop) -> list[StoreEntry]:
    """Return everything that is stored but the figures of the last run."""
    return [entry for entry in await shop.entries() if entry.key != "reconciled"]


async def test_a_late_webhook_is_a_no_op() -> None:
    """The event that arrives after reconciliation is kept and changes nothing else."""
    shop = shop_with(listed())
    await shop.offered("cs_1")
    await shop.reconciliation.run()
    before = await shop.entries()
    assert await shop.receive("evt_1", session_json()) == "already"
    assert [entry for entry in await shop.entries() if not entry.key.startswith("event:")] == before


async def test_a_dry_run_writes_nothing() -> None:
    """A dry run tells what would be done and leaves the store as it is."""
    shop = shop_with(listed(), listed("cs_2", payment_status="unpaid"), listed("cs_3", price_ids=("price_other",)))
    await shop.offered("cs_1", "cs_2", "cs_3")
    before = await shop.entries()
    report = await shop.reconciliation.run(dry_run=True)
    assert (report.dry_run, report.granted, report.unpaid) == (True, ["cs_1"], ["cs_2"])
    assert report.paid_without_access == [StoredDiscrepancy(session_id="cs_3", reason="another price")]
    assert await shop.entries() == before


async def test_the_catalogue_stands_in_for_a_lost_offer() -> None:
    """Without an offer the session is compared with today's catalogue."""
    shop = shop_with(listed(amount_total=1, currency="nzd"))
    report = await shop.reconciliation.run()
    assert report.granted == ["cs_1"]
    (push,) = [row for row in await shop.told() if row.id == "owner-cs_1"]
    assert push.priority == "default"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"price_ids": ("price_old",)}, "another price"),
        ({"price_ids": None}, "no offer"),
        ({"metadata": {"productType": "cert", "certCode": "gone", "vendorSlug": "isc2"}}, "no offer"),
    ],
)
async def test_what_the_catalogue_cannot_vouch_for(changed: dict[str, Any], reason: str) -> None:
    """Without an offer a session at another price, without prices or for a retired product is only listed."""
    shop = shop_with(listed(**changed))
    report = await shop.reconciliation.run()
    assert (report.granted, report.paid_without_access) == (
        [],
        [StoredDiscrepancy(session_id="cs_1", reason=reason)],
    )
    (found,) = await shop.reconciliation.findings()
    assert (found.items, found.why) == (("cs_1",), f"cs_1: paid, without access ({reason}).")


async def test_the_offer_goes_before_the_catalogue() -> None:
    """A price that changed between session and payment is granted: the offer counts, not today's catalogue."""
    shop = shop_with(listed(price_ids=("price_old",)))
    await shop.offered("cs_1", price_id="price_old")
    assert (await shop.reconciliation.run()).granted == ["cs_1"]


async def test_another_price_than_offered_is_listed() -> None:
    """A session at another price than its offer's is not granted, however often it is looked at."""
    shop = shop_with(listed(price_ids=("price_other",)))
    await shop.offered("cs_1")
    for _ in range(2):
        report = await shop.reconciliation.run()
        assert report.paid_without_access == [StoredDiscrepancy(session_id="cs_1", reason="another price")]
    (found,) = await shop.reconciliation.findings()
    assert (found.items, found.severity, await shop.told()) == (("cs_1",), 5, [])


async def test_foreign_sessions_are_counted() -> None:
    """Sessions of other shops on the account are a number in the report, and nothing else in the store."""
    shop = shop_with(listed(metadata={}), listed("cs_2", metadata={"order": "7"}))
    report = await shop.reconciliation.run()
    assert (report.examined, report.foreign, report.paid_without_access) == (2, 2, [])
    assert await entries(shop) == []


async def test_unpaid_then_paid() -> None:
    """A session that completed unpaid is granted by the run after it was paid."""
    shop = shop_with(listed(payment_status="unpaid"))
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    assert (await shop.reconciliation.run()).unpaid == ["cs_1"]
    shop.processor.add(listed())
    assert (await shop.reconciliation.run()).granted == ["cs_1"]
    assert await shop.entries("pending:") == []


async def test_the_window() -> None:
    """Sessions created before the window are not looked at; by default it is 30 days."""
    shop = shop_with(listed("cs_1", created=START - WINDOW), listed("cs_2", created=START - WINDOW - HOUR))
    await shop.offered("cs_1", "cs_2")
    assert (await shop.reconciliation.run()).granted == ["cs_1"]
    assert (await shop.reconciliation.run(WINDOW + DAY)).granted == ["cs_2"]
    assert WINDOW == 30 * DAY


async def test_what_waits_longer_than_the_window() -> None:
    """A session that waits since before the window is looked up one by one, and granted when it was paid."""
    shop = shop_with(listed(payment_status="unpaid"))
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    shop.clock.advance((40 * DAY).total_seconds())
    shop.processor.add(listed())
    report = await shop.reconciliation.run()
    assert shop.processor.asked_for == ["cs_1"]
    assert report.granted == ["cs_1"]


async def test_what_waits_within_the_window_is_not_asked_twice() -> None:
    """A session that the list holds is not looked up once more."""
    shop = shop_with(listed(payment_status="unpaid"))
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    assert (await shop.reconciliation.run()).unpaid == ["cs_1"]
    assert shop.processor.asked_for == []


async def test_what_waits_and_is_gone() -> None:
    """A waiting session that the processor no longer knows is listed, and stops nothing."""
    shop = shop_with()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    shop.clock.advance((40 * DAY).total_seconds())
    report = await shop.reconciliation.run()
    assert report.paid_without_access == [StoredDiscrepancy(session_id="cs_1", reason="No such session.")]


REFUND, DISPUTE = "charge ch_cs_1 was refunded", "charge ch_cs_1 is disputed"


@each_case(
    ("changed", "reasons"),
    [
        ({}, []),
        ({"amount_refunded": 4899}, []),
        ({"amount_refunded": 4900}, [REFUND]),
        ({"disputed": True}, [DISPUTE]),
        ({"disputed": True, "amount_refunded": 4900}, [DISPUTE]),
    ],
)
async def test_access_without_payment(changed: dict[str, Any], reasons: list[str]) -> None:
    """A refund in full, or a dispute, of access that runs is listed; revoking is left to the owner."""
    shop = shop_with(listed())
    await shop.offered("cs_1")
    shop.processor.charges.append(charge("cs_1", **changed))
    report = await shop.reconciliation.run()
    assert report.access_without_payment == [
        StoredDiscrepancy(session_id="cs_1", reason=reason) for reason in reasons
    ]
    assert (await shop.access()).revoked_at is None


async def test_revoked_access_is_not_listed() -> None:
    """Once the owner revoked it, a refunded access is no finding any more."""
    shop = shop_with(listed())
    await shop.offered("cs_1")
    await shop.reconciliation.run()
    shop.processor.charges.append(charge("cs_1", amount_refunded=4900))
    await shop.desk.revoke("cs_1", "refunded")
    report = await shop.reconciliation.run()
    assert (report.access_without_payment, report.granted) == ([], [])


async def test_the_owner_is_told_of_a_refund_once() -> None:
    """Access whose payment was taken back is one problem, however often the unattended reconciliation runs."""
    shop = shop_with(listed())
    await shop.offered("cs_1")
    shop.processor.charges.append(charge("cs_1", amount_refunded=4900))
    for _ in range(3):
        await shop.reconciliation.run_unattended()
        (found,) = await shop.reconciliation.findings()
        assert (found.state, found.items) == ("broken", ("cs_1",))


async def test_charges_of_nobody_are_no_findings() -> None:
    """A refunded or disputed charge that paid for no access here is none of our business."""
    shop = shop_with()
    shop.processor.charges += [
        charge("cs_9", disputed=True),
        charge("cs_8", payment_intent=None, amount_refunded=4900),
    ]
    assert (await shop.reconciliation.run()).access_without_payment == []


async def restored(shop: Shop, at: datetime) -> None:
    """Mark the store as restored."""
    await shop.store.commit([Put("restored-at", Restored(at=at).model_dump_json().encode())])


async def test_nobody_is_told_twice_after_a_restore() -> None:
    """What completed before the restore is granted with its notifications held back; later sales are told."""
    shop = shop_with(listed(), listed("cs_2", created=START + HOUR))
    await shop.offered("cs_1", "cs_2")
    await restored(shop, START)
    report = await shop.reconciliation.run()
    assert (report.granted, report.held_notifications) == (["cs_1", "cs_2"], 1)
    states = {row.id: row.state for row in await shop.told()}
    assert states == {"buyer-cs_1": "held", "owner-cs_1": "held", "buyer-cs_2": "waiting", "owner-cs_2": "waiting"}


async def test_the_owner_is_not_told_twice_after_a_restore() -> None:
    """That a session was withheld is held back too when it may have been told before the restore."""
    shop = shop_with(listed(payment_status="unpaid"))
    await shop.offered("cs_1")
    await restored(shop, START)
    await shop.reconciliation.run()
    assert [(row.id, row.state) for row in await shop.told()] == [("withheld-cs_1-unpaid", "held")]


async def test_backup_sell_restore_reconcile() -> None:
    """Twenty sales lost with a restore are twenty records again, and no mail goes out twice."""
    sessions = [listed(f"cs_{number:02}", email=f"b{number}@example.org") for number in range(20)]
    shop = shop_with(*sessions)
    await restored(shop, START)
    await shop.reconciliation.run()
    assert len(await shop.entries("access:")) == 20
    assert {row.state for row in await shop.told()} == {"held"}


async def test_a_processor_that_fails_midway() -> None:
    """What was granted before the processor failed stays granted, and the error reaches the caller."""
    shop = shop_with(listed())
    await shop.offered("cs_1")

    def stop() -> None:
        raise ProcessorUnreachable("gone", same_key=True)

    with pytest.raises(ProcessorUnreachable):
        await shop.reconciliation.run(progress=stop)
    assert (await shop.access()).granted_by == "reconcile"


async def test_progress_is_told() -> None:
    """The progress is told after each session."""
    shop, seen = shop_with(*(listed(f"cs_{number}", metadata={}) for number in range(3))), list[int]()
    await shop.reconciliation.run(progress=lambda: seen.append(1))
    assert seen == [1, 1, 1]


DAYS = 86_400
PRICES = ("price_cissp",)


async def states(shop: Shop) -> dict[str, str]:
    """Return each notification's state by its id."""
    return {row.id: row.state for row in await shop.told()}


async def test_who_pays_after_a_restore_is_told(shop: Shop) -> None:
    """A session that was seen unpaid since the restore is new when it is paid: nobody was told of it."""
    await shop.offered("cs_1")
    await shop.store.commit([Put(RESTORED, Restored(at=START).to_bytes())])
    shop.processor.add(session(payment_status="unpaid", price_ids=PRICES))
    assert (await shop.reconciliation.run()).unpaid == ["cs_1"]
    shop.clock.advance(3 * DAYS)
    shop.processor.add(session(price_ids=PRICES))
    report = await shop.reconciliation.run()
    assert (report.granted, report.held_notifications) == (["cs_1"], 0)
    told = await states(shop)
    assert (told["buyer-cs_1"], told["owner-cs_1"]) == ("waiting", "waiting")


async def test_a_dry_run_after_a_restore_catches_up_with_nothing(shop: Shop) -> None:
    """Only a reconciliation that grants ends the silence after a restore."""
    await shop.offered("cs_1")
    await shop.store.commit([Put(RESTORED, Restored(at=START).to_bytes())])
    shop.processor.add(session(price_ids=PRICES))
    await shop.reconciliation.run(dry_run=True)
    assert (await shop.reconciliation.run()).held_notifications == 1


async def test_a_short_look_after_a_restore_does_not_end_the_silence_further_back(shop: Shop) -> None:
    """What was created before the window of the first reconciliation is still held back by a wider one."""
    await shop.offered("cs_1")
    shop.clock.advance(2 * DAYS)
    await shop.store.commit([Put(RESTORED, Restored(at=shop.clock.now()).to_bytes())])
    shop.processor.add(session(price_ids=PRICES))
    assert (await shop.reconciliation.run(timedelta(days=1))).examined == 0
    assert (await shop.reconciliation.run()).held_notifications == 1


async def test_the_next_restore_is_silent_again(shop: Shop) -> None:
    """A second restore forgets anew, whatever was caught up with after the first."""
    await shop.offered("cs_1")
    await shop.store.commit([Put(RESTORED, Restored(at=START).to_bytes())])
    await shop.reconciliation.run()
    shop.clock.advance(60)
    await shop.store.commit([Put(RESTORED, Restored(at=shop.clock.now()).to_bytes())])
    shop.processor.add(session(price_ids=PRICES))
    assert (await shop.reconciliation.run()).held_notifications == 1


async def test_however_many_sessions_are_pending(shop: Shop) -> None:
    """A session that waits is looked at again, whatever number of others comes before it."""
    for number in range(1001):
        name = f"cs_{number:04}"
        refused = WithheldSession(session_id=name, state="refused", reason="x", event_id=None, noted_at=START)
        await shop.store.commit([Put(f"pending:{name}", refused.to_bytes())])
    await shop.offered("last")
    await shop.receive("evt_1", session_json("last", payment_status="unpaid"))
    shop.processor.add(session("last", price_ids=PRICES))
    shop.clock.advance(40 * DAYS)
    assert (await shop.reconciliation.run()).granted == ["last"]


async def test_a_purchase_on_top_of_access_for_ever() -> None:
    """Who has access to the end of the calendar and buys again is granted like anybody."""
    shop, for_ever = Shop(), datetime(9999, 12, 31, tzinfo=UTC)
    _ = await shop.imported(ImportedAccess(BUYER, PRODUCT.key, for_ever))
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json()) == "granted"
    assert (await shop.access()).expires_at == for_ever
