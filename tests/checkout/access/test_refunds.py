"""Refunds and disputes are told once, whatever the charge's age, and listed while access runs (decision 49)."""

import re
from datetime import timedelta
from typing import Any

import pytest

from orrery.checkout.records import Reversal, StoredDiscrepancy
from orrery.errors import Invalid
from orrery.ports.processor import Charge, ChargeEvent, Dispute
from orrery.ports.processor.errors import ItemUnreadable
from orrery.ports.store import Put
from orrery.runtime.restored import RESTORED, Restored
from orrery.runtime.watch import OutageWatch
from tests.support.checkout import Shop, ids, session, session_json
from tests.support.clock import START

DAY = timedelta(days=1)


OPEN, DIFFERS = "broken-dispute:du_1", "broken-payments-and-access"


def charge(**other: Any) -> Charge:  # noqa: ANN401  any field of a charge
    """Return the charge that paid for `cs_1`."""
    fields: dict[str, Any] = {
        "created": START,
        "payment_intent": "pi_cs_1",
        "amount": 4900,
        "amount_refunded": 0,
        "currency": "usd",
        "paid": True,
        "disputed": False,
    }
    return Charge("ch_1", **(fields | other))


def dispute(status: str = "needs_response", dispute_id: str = "du_1", **other: Any) -> Dispute:  # noqa: ANN401  any field
    """Return a dispute of that charge, to be answered within nine days of the sale."""
    fields: dict[str, Any] = {"payment_intent": "pi_cs_1", "respond_by": START + 9 * DAY} | other
    return Dispute(dispute_id, "ch_1", amount=4900, currency="usd", status=status, **fields)


async def sold(*, revoke_on_refund: bool = False) -> Shop:
    """Return a shop that sold one access and has reconciled since."""
    shop = Shop(revoke_on_refund=revoke_on_refund)
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    shop.processor.add(session(price_ids=("price_cissp",)))
    await shop.reconciliation.run_unattended()
    return shop


async def later(shop: Shop, time: timedelta, *subjects: Charge | Dispute) -> list[str]:
    """Let this happen after some time, and reconcile and look twice; return which pushes that made."""
    before = ids(await shop.told())
    shop.clock.advance(time.total_seconds())
    for subject in subjects:
        shop.processor.charge_events.append(ChargeEvent(shop.clock.now(), subject))
        shop.clock.advance(1)
    watch = OutageWatch(shop.store, shop.clock, shop.reconciliation.findings)
    for _ in range(2):
        await shop.reconciliation.run_unattended()
        await watch.notify()
        shop.clock.advance(900)
    return [untimed(one) for one in ids(await shop.told()) if one not in before]


def untimed(push_id: str) -> str:
    """Return the id of a push without its time."""
    return re.sub(r"-20[0-9]{6}t.*", "", push_id)


async def body(shop: Shop, push: str) -> str:
    """Return the text of a push."""
    return next(row.body for row in await shop.told() if untimed(row.id) == push)


@pytest.mark.parametrize("days", [1, 45, 300])
async def test_a_refund_of_any_age(days: int) -> None:
    """A refund in full is told once and listed until the owner revokes, whenever the charge was made."""
    shop = await sold()
    assert await later(shop, days * DAY, charge(amount_refunded=4900)) == [DIFFERS]
    assert "cs_1: access without payment (charge ch_1 was refunded)." in await body(shop, DIFFERS)
    assert await later(shop, 40 * DAY) == []
    listed = (await shop.reconciliation.run()).access_without_payment
    assert listed == [StoredDiscrepancy(session_id="cs_1", reason="charge ch_1 was refunded")]
    await shop.desk.revoke("cs_1", "refunded")
    assert (await shop.reconciliation.run()).access_without_payment == []


async def test_a_dispute_has_a_push_of_its_own_with_its_deadline() -> None:
    """A dispute is urgent, names the day by which it must be answered, and is listed with it."""
    shop = await sold()
    assert await later(shop, 60 * DAY, dispute(respond_by=START + 70 * DAY)) == [OPEN]
    (push,) = [row for row in await shop.told() if untimed(row.id) == OPEN]
    assert push.priority == "urgent"
    assert (
        f"answer by {START + 70 * DAY:%Y-%m-%d %H:%M} UTC. 49.00 USD, isc2/cissp, https://processor.example/payments/pi_cs_1."
        in push.body
    )
    (listed,) = (await shop.reconciliation.run()).access_without_payment
    assert listed.reason == f"charge ch_1 is disputed, answer by {START + 70 * DAY:%Y-%m-%d %H:%M} UTC"


@pytest.mark.parametrize(
    ("status", "told", "says"),
    [("won", "dispute-decided-du_1", "was won"), ("lost", DIFFERS, "the dispute of charge ch_1 was lost")],
)
async def test_the_end_of_a_dispute(status: str, told: str, says: str) -> None:
    """How a dispute ended is told once: with one that was lost, its access runs without payment."""
    shop = await sold()
    assert await later(shop, DAY, dispute()) == [OPEN]
    assert await later(shop, DAY, dispute(status)) == [told]
    assert says in await body(shop, told)
    listed = (await shop.reconciliation.run()).access_without_payment
    assert [one.reason for one in listed] == ([says] if status == "lost" else [])


async def test_a_dispute_that_was_lost_without_access() -> None:
    """Where no access runs any more, the decision is news and nothing is wrong."""
    shop = await sold()
    await shop.desk.revoke("cs_1", "asked for")
    assert await later(shop, DAY, dispute("lost")) == ["dispute-decided-du_1"]
    assert "was lost" in await body(shop, "dispute-decided-du_1")


async def test_a_second_dispute_is_told_too() -> None:
    """A payment that is contested again has another deadline."""
    shop = await sold()
    assert await later(shop, DAY, dispute(), dispute("won")) == ["dispute-decided-du_1"]
    assert await later(shop, DAY, dispute(dispute_id="du_2")) == ["broken-dispute:du_2"]
    assert await later(shop, DAY) == []


async def test_of_two_states_in_one_second_the_later_counts() -> None:
    """The processor lists the newest first, and its times have no fractions."""
    shop = await sold()
    states = [dispute(respond_by=START + days * DAY) for days in (9, 12)]
    shop.processor.charge_events += [ChargeEvent(START, one) for one in states]
    (listed,) = (await shop.reconciliation.run()).access_without_payment
    assert f"{START + 12 * DAY:%Y-%m-%d}" in listed.reason


async def test_an_older_state_of_a_dispute_changes_nothing() -> None:
    """A state that happened before the one that is known is no news, whenever it is read."""
    shop = await sold()
    assert await later(shop, 2 * DAY, dispute()) == [OPEN]
    older = ChargeEvent(shop.clock.now() - DAY, dispute("warning_needs_response"))
    shop.processor.charge_events.append(older)
    assert await later(shop, timedelta(0)) == []
    (listed,) = (await shop.reconciliation.run()).access_without_payment
    assert listed.reason.startswith("charge ch_1 is disputed")


async def test_a_question_of_the_bank_takes_nothing_yet() -> None:
    """An inquiry has a deadline and is told, but its money has not gone."""
    shop = await sold()
    assert await later(shop, DAY, dispute("warning_needs_response")) == [OPEN]
    assert (await shop.reconciliation.run()).access_without_payment == []


async def test_a_dispute_of_access_that_ended() -> None:
    """A dispute is money: it is told though the access has been revoked, and not listed as open access."""
    shop = await sold()
    await shop.desk.revoke("cs_1", "asked for")
    assert await later(shop, DAY, dispute()) == [OPEN]
    assert (await shop.reconciliation.run()).access_without_payment == []


async def test_a_dispute_of_a_sale_without_access(shop: Shop) -> None:
    """Anyone who paid and got nothing disputes first: the push needs no access record."""
    shop.processor.add(session(created=START - 60 * DAY))
    shop.processor.charge_events.append(ChargeEvent(START, dispute()))
    assert await later(shop, timedelta(0)) == [OPEN]


async def test_partial_refunds_are_listed() -> None:
    """A refund of a part is listed with its amount, growing, and no push."""
    shop = await sold()
    assert await later(shop, DAY, charge(amount_refunded=1000)) == []
    assert await later(shop, DAY, charge(amount_refunded=1500)) == []
    report = await shop.reconciliation.run()
    assert report.partly_refunded == [
        StoredDiscrepancy(session_id="cs_1", reason="15.00 USD of 49.00 USD of charge ch_1")
    ]
    assert report.access_without_payment == []
    assert "Refunded in part: 1." in (await shop.reconciliation.panel()).todo
    assert await later(shop, DAY, charge(amount_refunded=4900)) == [DIFFERS]


async def test_access_is_revoked_only_by_setting() -> None:
    """A refund in full leaves access open by default; with the setting it is revoked in the same commit."""
    kept, revoking = await sold(), await sold(revoke_on_refund=True)
    for shop, told in ((kept, [DIFFERS]), (revoking, ["ended-cs_1", "taken-back-cs_1"])):
        assert await later(shop, DAY, charge(amount_refunded=4899)) == []
        assert (await shop.access()).revoked_at is None
        assert await later(shop, DAY, charge(amount_refunded=4900)) == told
    assert (await kept.access()).revoked_at is None
    assert (await revoking.access()).revoked_at is not None
    assert (await revoking.reconciliation.run()).access_without_payment == []
    assert "is revoked" in await body(revoking, "taken-back-cs_1")
    (entry,) = (await revoking.desk.journal(1)).whole()
    assert (entry.action, entry.reason) == ("revoke", "refunded in full: ch_1")


async def test_access_that_shall_stay() -> None:
    """Access that the owner lets run after a refund is no problem any more, and no later look lists it again."""
    shop = await sold()
    with pytest.raises(Invalid, match="No refund"):
        await shop.desk.keep("cs_1", "agreed")
    assert await later(shop, DAY, charge(amount_refunded=4900)) == [DIFFERS]
    await shop.desk.keep("cs_1", "agreed")
    assert (await shop.reconciliation.panel()).tone == "good"
    assert (await shop.reconciliation.run()).access_without_payment == []
    assert (await shop.access()).revoked_at is None
    (entry,) = (await shop.desk.journal(1)).whole()
    assert (entry.action, entry.reason) == ("grant", "agreed")


async def test_what_ends_earlier_with_a_refund_is_counted() -> None:
    """A year that was bought on top of the refunded one ends earlier, and the push says so."""
    shop = await sold(revoke_on_refund=True)
    await shop.offered("cs_2")
    await shop.receive("evt_2", session_json("cs_2"))
    until = (await shop.access("cs_2")).expires_at
    assert await later(shop, DAY, charge(amount_refunded=4900)) == ["ended-cs_1", "taken-back-cs_1"]
    assert "ends earlier now: 1." in await body(shop, "taken-back-cs_1")
    assert (await shop.access("cs_2")).expires_at < until


async def test_a_revocation_by_hand_comes_first() -> None:
    """Access that the owner has revoked before refunding is left alone, and there is nothing to tell."""
    shop = await sold(revoke_on_refund=True)
    await shop.desk.revoke("cs_1", "by hand")
    assert await later(shop, DAY, charge(amount_refunded=4900)) == []


async def test_after_an_outage_that_is_longer_than_events_are_kept() -> None:
    """What happened while the processor's events came and went is read from the charges."""
    shop = await sold()
    shop.processor.charge_events.append(ChargeEvent(START + 5 * DAY, charge(amount_refunded=4900)))
    shop.processor.charges.append(charge(amount_refunded=4900, disputed=True))
    assert await later(shop, 50 * DAY) == [DIFFERS, "dispute-ch_1"]
    assert "Look up the deadline" in await body(shop, "dispute-ch_1")


async def test_charges_are_looked_through_only_after_such_an_outage() -> None:
    """In normal times the events suffice, and no list of all charges is asked for."""
    shop = await sold()
    shop.processor.charges.append(charge(amount_refunded=4900))
    assert await later(shop, 28 * DAY) == []
    assert await later(shop, 31 * DAY) == [DIFFERS]


async def test_a_sale_in_a_long_outage_is_granted() -> None:
    """Sessions are looked for back to the last success, however long ago that was."""
    shop = await sold()
    await shop.offered("cs_2")
    shop.processor.add(session("cs_2", created=START + DAY, price_ids=("price_cissp",)))
    shop.clock.advance(80 * DAY.total_seconds())
    report = await shop.reconciliation.run()
    assert report.granted == ["cs_2"]
    assert "Sessions of 82 days" in (await shop.reconciliation.panel()).todo


async def test_a_short_run_by_hand_does_not_count_as_success() -> None:
    """After a long outage a look that does not reach back to the last success leaves it where it was."""
    shop = await sold()
    await shop.offered("cs_2")
    shop.processor.add(session("cs_2", created=START + DAY, price_ids=("price_cissp",)))
    shop.clock.advance(80 * DAY.total_seconds())
    assert (await shop.reconciliation.run(30 * DAY)).granted == []
    assert (await shop.reconciliation.run()).granted == ["cs_2"]


async def test_what_waits_is_looked_at_until_it_is_decided(shop: Shop) -> None:
    """An outstanding payment is not forgotten after 90 days, nor one that an earlier release noted for so long."""
    for number, kept in ((1, None), (2, 90 * DAY)):
        name = f"cs_{number}"
        await shop.offered(name)
        await shop.receive(f"evt_{number}", session_json(name, payment_status="unpaid"))
        (entry,) = await shop.entries(f"pending:{name}")
        assert entry.expires_at is None
        await shop.store.commit([Put(entry.key, entry.value, kept)])
        shop.processor.add(session(name, payment_status="unpaid", price_ids=("price_cissp",)))
    await shop.reconciliation.run()
    shop.clock.advance(200 * DAY.total_seconds())
    shop.processor.add(*(session(one, price_ids=("price_cissp",)) for one in shop.processor.sessions))
    assert (await shop.reconciliation.run()).granted == ["cs_1", "cs_2"]


async def test_payments_of_others_are_asked_for_once() -> None:
    """A refund on the account that is none of ours is no finding, and is not looked up at each run."""
    shop = await sold()
    theirs = charge(payment_intent="pi_theirs", amount_refunded=4900), dispute(payment_intent="pi_theirs")
    assert await later(shop, DAY, *theirs, charge(payment_intent=None, amount_refunded=4900)) == []
    assert shop.processor.payments_asked_for.count("pi_theirs") == 1


async def test_a_dry_run_notes_nothing() -> None:
    """A dry run lists what it has learned, and leaves telling and noting to the next run."""
    shop = await sold()
    shop.processor.charge_events += [ChargeEvent(START, dispute()), ChargeEvent(START, dispute("lost"))]
    before = await shop.entries()
    report = await shop.reconciliation.run(dry_run=True)
    assert report.access_without_payment == [
        StoredDiscrepancy(session_id="cs_1", reason="the dispute of charge ch_1 was lost")
    ]
    assert await shop.entries() == before
    assert await later(shop, DAY) == [DIFFERS]


async def test_what_was_told_before_a_restore_is_held_back() -> None:
    """A decision of before the restore may have been told; what comes later is told."""
    shop = await sold()
    shop.clock.advance(DAY.total_seconds())
    await shop.store.commit([Put(RESTORED, Restored(at=shop.clock.now()).to_bytes())])
    shop.processor.charge_events.append(ChargeEvent(START + DAY / 2, dispute("won")))
    await shop.reconciliation.run_unattended()
    assert {row.id: row.state for row in await shop.told()}["dispute-decided-du_1"] == "held"
    assert await later(shop, DAY, dispute("won", "du_2")) == ["dispute-decided-du_2"]
    assert {row.id: row.state for row in await shop.told()}["dispute-decided-du_2"] == "waiting"


async def test_what_an_earlier_release_told_is_not_told_again() -> None:
    """A refund of which an earlier release noted nothing is no new problem."""
    shop = await sold()
    first = await later(shop, DAY, charge(amount_refunded=4900))
    (noted,) = await shop.entries("taken-back:")
    await shop.store.commit([Put(noted.key, _unnoted(noted.value))])
    assert (first, await later(shop, timedelta(hours=1))) == ([DIFFERS], [])
    (again,) = await shop.entries("taken-back:")
    assert Reversal.from_bytes(again.value).refunded


def _unnoted(value: bytes) -> bytes:
    return Reversal.from_bytes(value).change(amount_refunded=0).to_bytes()


async def test_one_that_cannot_be_read_hides_no_other() -> None:
    """An event that cannot be read is told once, and the dispute beside it is told, too."""
    shop = await sold()
    shop.processor.unreadable.append(ItemUnreadable("dispute", "evt_odd", ("data.object",)))
    told = await later(shop, DAY, dispute())
    assert [one.split("-")[0] for one in told] == ["broken", "unread"]


async def test_a_note_that_cannot_be_read_is_left_alone() -> None:
    """A record of a newer release is not written over: it is told, and others are noted."""
    shop = await sold()
    await shop.store.commit([Put("taken-back:pi_cs_1", b'{"v": 9}')])
    assert await later(shop, DAY, dispute()) == [DIFFERS]
    assert "taken-back:pi_cs_1: cannot be read" in await body(shop, DIFFERS)
    (entry,) = await shop.entries("taken-back:")
    assert entry.value == b'{"v": 9}'
