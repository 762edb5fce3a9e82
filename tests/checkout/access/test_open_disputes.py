"""A dispute, and what does not agree, as problems until they are over (issue 39, line 2)."""

from orrery.checkout.records import Reversal
from orrery.ports.store import Put
from tests.checkout.access.test_refunds import DAY, DIFFERS, OPEN, START, charge, dispute, later, sold, untimed
from tests.support.checkout import BUYER, OTHER, PRODUCT, Shop, metadata_of, session_json
from tests.support.tables import each_case


async def found(shop: Shop, part: str) -> list[tuple[str, str]]:
    """Return the state of a part and why, after a reconciliation."""
    await shop.reconciliation.run_unattended()
    return [(one.state, one.why) for one in await shop.reconciliation.findings() if one.part == part]


@each_case("status", ["needs_response", "warning_needs_response"])
async def test_an_open_dispute_is_a_finding_until_it_is_decided(status: str) -> None:
    """While the owner may answer, `orrery doctor` is not green, also when the access has been revoked."""
    shop = await sold()
    assert await found(shop, "dispute:du_1") == []
    await later(shop, DAY, dispute(status))
    await shop.desk.revoke("cs_1", "disputed")
    ((state, why),) = await found(shop, "dispute:du_1")
    assert state == "broken"
    assert f"answer by {START + 9 * DAY:%Y-%m-%d}" in why
    await later(shop, DAY, dispute("lost" if status == "needs_response" else "warning_closed"))
    assert await found(shop, "dispute:du_1") == []


async def test_what_does_not_add_up_is_a_finding() -> None:
    """Page and doctor agree: access without payment is broken in both."""
    shop = await sold()
    assert await found(shop, "payments and access") == [
        ("ok", "What is paid has access, and what has access is paid.")
    ]
    await later(shop, DAY, charge(amount_refunded=4900))
    assert await found(shop, "payments and access") == [
        ("broken", "cs_1: access without payment (charge ch_1 was refunded).")
    ]
    assert (await shop.reconciliation.panel()).headline == "1 with access without payment"
    assert not any(one.essential for one in await shop.reconciliation.findings())
    (finding,) = await shop.reconciliation.findings()
    assert finding.command == "orrery access revoke cs_1 --reason 'charge ch_1 was refunded'"
    await shop.desk.revoke("cs_1", "refunded")
    assert [one.state for one in await shop.reconciliation.findings()] == ["ok"]
    assert (await shop.reconciliation.panel()).headline == "What is paid has access, and what has access is paid"


async def test_what_is_granted_by_hand_is_no_problem_any_more() -> None:
    """A session that was refused is listed with a command that shows its payment, until the owner grants it."""
    shop = Shop()
    await shop.reconciliation.run_unattended()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json("cs_1", metadata=metadata_of(OTHER)))
    (finding,) = await shop.reconciliation.findings()
    assert (finding.state, finding.command) == ("broken", "orrery processor session cs_1")
    _ = await shop.desk.grant(BUYER, PRODUCT.key, "it was paid", session_id="cs_1")
    assert [one.state for one in await shop.reconciliation.findings()] == ["ok"]


async def test_an_inquiry_that_becomes_a_dispute_is_pushed_once_more() -> None:
    """The money is gone now: the second push is urgent, and the first one was not."""
    shop = await sold()
    assert await later(shop, DAY, dispute("warning_needs_response")) == [OPEN]
    assert await later(shop, DAY, dispute()) == [OPEN]
    pushes = sorted((row for row in await shop.told() if untimed(row.id) == OPEN), key=lambda row: row.created_at)
    assert [row.priority for row in pushes] == ["high", "urgent"]
    assert await later(shop, DAY, dispute("under_review")) == []


async def test_disputes_of_one_payment_are_pushed_one_by_one() -> None:
    """Whatever was read at once: the deadline of the one that is open, and how each was decided."""
    shop = await sold()
    second = dispute(dispute_id="du_2", respond_by=START + 20 * DAY)
    assert await later(shop, DAY, dispute(), second, dispute("lost")) == [
        "broken-dispute:du_2",
        DIFFERS,
    ]
    assert await later(shop, DAY, dispute("won", "du_2")) == ["dispute-decided-du_2"]


async def test_a_dispute_of_the_release_before() -> None:
    """It stays booked beside another one, and what an earlier release learned of it counts."""
    before = Reversal(
        payment_intent="pi_cs_1",
        session_id="cs_1",
        charge_id="ch_1",
        currency="usd",
        dispute="lost",
        dispute_id="du_1",
        dispute_at=START,
    )
    shop = await sold()
    await shop.store.commit([Put("taken-back:pi_cs_1", before.to_bytes())])
    assert await later(shop, DAY, dispute("warning_needs_response", "du_2")) == ["broken-dispute:du_2", DIFFERS]
    after = await shop.stored.reversals.get("pi_cs_1")
    assert after is not None
    assert [(one.dispute_id, one.status) for one in after.record.every_dispute] == [
        ("du_1", "lost"),
        ("du_2", "warning_needs_response"),
    ]
    rolled_back = after.record.change(dispute="won", dispute_id="du_2")
    assert [one.status for one in rolled_back.every_dispute] == ["lost", "won"]


async def test_the_command_names_why_the_access_ends() -> None:
    """The reason that is kept of a revocation is the one for which the session is listed: a lost dispute."""
    shop = await sold()
    await later(shop, DAY, dispute("lost"))
    await shop.reconciliation.run_unattended()
    (finding,) = await shop.reconciliation.findings()
    assert finding.command == "orrery access revoke cs_1 --reason 'the dispute of charge ch_1 was lost'"


async def test_another_deadline_is_a_change() -> None:
    """A dispute that was put aside comes back when it must be answered by another day."""
    shop = await sold()
    items = list[tuple[str, ...]]()
    for due in (9, 9, 5):
        await later(shop, DAY, dispute("needs_response", respond_by=START + due * DAY))
        await shop.reconciliation.run_unattended()
        items += [one.items for one in await shop.reconciliation.findings() if one.part == "dispute:du_1"]
    assert items[0] == items[1] != items[2]
