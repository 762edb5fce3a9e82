"""What a reconciliation leaves for the owner: its result, and sales that the store does not know."""

from datetime import timedelta

import pytest

from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.access.outages import ANOTHER_STORE, PART
from orrery.checkout.access.reconcile import WINDOW
from orrery.checkout.access.report import LATE, MOST_KEPT
from orrery.checkout.records import LastReconciliation
from orrery.ports.health import Finding
from orrery.ports.processor import Charge, CheckoutSession
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Delete, Put
from orrery.runtime.restored import RESTORED, Restored
from orrery.runtime.watch import OutageWatch
from tests.support.checkout import BUYER, PRODUCT, Shop, record, session, session_json
from tests.support.clock import START
from tests.support.tables import each_case

PRICES = ("price_cissp",)
PUSHED = "broken-sales-of-this-store"
RETIRED = {"productType": "cert", "certCode": "gone", "vendorSlug": "isc2"}


def listed(session_id: str = "cs_1", **other: object) -> CheckoutSession:
    """Return a completed session as the processor lists it."""
    return session(session_id, price_ids=PRICES, **other)


async def finding(shop: Shop) -> Finding:
    """Return what readiness and doctor find."""
    (found,) = await shop.unknown_sales.local()
    return found


async def states(shop: Shop) -> dict[str, str]:
    """Return each notification's state by its id, without the time in it."""
    return {row.id.partition("-2026")[0]: row.state for row in await shop.told()}


async def test_an_empty_store_is_not_well_at_the_start(shop: Shop) -> None:
    """Before anything is served: one urgent push, and a broken part that names the remedy; once."""
    shop.processor.add(listed(), listed("cs_2"))
    for _ in range(2):
        await shop.reconciliation.look_at_start()
    (push,) = await shop.told()
    assert (push.priority, push.state) == ("urgent", "waiting")
    assert "orrery restore" in push.body
    found = await finding(shop)
    assert (found.part, found.state, found.essential) == (PART, "broken", True)
    assert "orrery restore" in found.todo
    assert await shop.entries("access:") == []


async def test_it_ends_when_reconciliation_has_opened_them(shop: Shop) -> None:
    """Access is opened, and its messages are held with the reason; the watch says that it is over."""
    shop.processor.add(listed(), listed("cs_2"))
    await shop.reconciliation.look_at_start()
    report = await shop.reconciliation.run()
    assert (report.granted, report.unknown, report.left_unknown) == (["cs_1", "cs_2"], 2, 0)
    assert (await finding(shop)).state == "ok"
    told = await states(shop)
    assert told.pop(PUSHED) == "waiting"
    assert told == dict.fromkeys(("owner-cs_1", "buyer-cs_1", "owner-cs_2", "buyer-cs_2"), "held")
    assert {row.held_because for row in await shop.told() if row.state == "held"} == {ANOTHER_STORE}
    assert (await shop.reconciliation.run()).unknown == 0
    assert len(await shop.told()) == 5
    watch = OutageWatch(shop.store, shop.clock, shop.unknown_sales.local)
    await watch.notify()
    await watch.notify()
    (over,) = [row for row in await shop.told() if row.title == f"Works again: {PART}"]
    assert "orrery notifications list --state held" in over.body


async def test_what_cannot_be_opened_keeps_it_broken(shop: Shop) -> None:
    """A product that is no longer sold: it stays broken over any number of runs, until the owner grants access."""
    shop.processor.add(listed(), listed("cs_2", metadata=RETIRED))
    for _ in range(3):
        shop.clock.advance(900)
        await shop.reconciliation.run()
        assert (await finding(shop)).state == "broken"
    shop.processor.sessions.popitem()
    await shop.reconciliation.run()
    assert (await finding(shop)).state == "ok"
    assert len([row for row in await shop.told() if row.priority == "urgent"]) == 1
    assert (await states(shop))["withheld-cs_2-no-offer"] == "waiting"


async def test_sales_of_a_year_are_looked_for(shop: Shop) -> None:
    """Access runs for a year, so an empty store is not well however old its newest sale is."""
    shop.processor.add(listed(created=START - timedelta(days=300)))
    await shop.reconciliation.look_at_start()
    assert (await finding(shop)).state == "broken"
    assert (await shop.reconciliation.run()).granted == ["cs_1"]
    assert (await finding(shop)).state == "ok"


async def test_what_was_imported_is_not_granted_again(shop: Shop) -> None:
    """Buyers who came with an import have their access: their sessions over the software before are no alarm."""
    _ = await shop.imported(ImportedAccess(BUYER, PRODUCT.key, START + timedelta(days=200)))
    shop.processor.add(listed(created=START - timedelta(days=100)))
    await shop.reconciliation.look_at_start()
    report = await shop.reconciliation.run(timedelta(days=366))
    assert (report.granted, report.unknown, report.with_access) == ([], 0, 1)
    assert (await finding(shop)).state == "ok"


@each_case("kind", ["offer", "own session", "pending", "access", "foreign", "unpaid"])
async def test_sessions_that_are_known(kind: str) -> None:
    """What this store made or noted, and what is not ours, is no reason for alarm."""
    shop, made = Shop(), listed()
    if kind == "offer":
        await shop.offered("cs_1")
    elif kind == "own session":
        await shop.store.commit([Put("own-session:cs_1", b"{}")])
    elif kind == "pending":  # its webhook came before the first reconciliation, so no other store has reported it
        await shop.receive("evt_1", session_json())
    elif kind == "access":
        await shop.offered("cs_1")
        await shop.receive("evt_1", session_json())
        await shop.store.commit([Delete("offer:cs_1")])
    elif kind == "foreign":
        made = listed(metadata={})
    else:
        made = listed(payment_status="unpaid")
    shop.processor.add(made)
    await shop.reconciliation.look_at_start()
    report = await shop.reconciliation.run()
    assert (await finding(shop)).state == "ok"
    assert report.unknown == 0
    assert not [row for row in await shop.told() if row.state == "held" or row.id.startswith(PUSHED)]


async def test_a_store_that_went_back_in_time(shop: Shop) -> None:
    """A snapshot that was copied over the store by hand: sales since it are unknown."""
    await shop.offered("cs_1")
    shop.processor.add(listed())
    await shop.reconciliation.run()
    shop.clock.advance(86_400)
    shop.processor.add(listed("cs_2", created=shop.clock.now()))
    report = await shop.reconciliation.run()
    assert (report.granted, report.unknown) == (["cs_2"], 1)
    told = await states(shop)
    assert (told[PUSHED], told["buyer-cs_1"], told["buyer-cs_2"]) == ("waiting", "waiting", "held")


async def test_a_restore_is_no_surprise(shop: Shop) -> None:
    """Sales of before a restore are expected to be unknown: its owner is reading what it did."""
    await shop.store.commit([Put(RESTORED, Restored(at=START + timedelta(hours=1)).to_bytes())])
    shop.processor.add(listed())
    await shop.reconciliation.look_at_start()
    assert (await shop.reconciliation.run()).unknown == 0
    assert (await finding(shop)).state == "ok"


async def test_a_dry_run_notes_nothing(shop: Shop) -> None:
    """It counts them only."""
    shop.processor.add(listed())
    assert (await shop.reconciliation.run(dry_run=True)).unknown == 1
    assert (await finding(shop)).state == "ok"
    assert await shop.told() == []


async def test_killed_between_the_note_and_its_end(shop: Shop) -> None:
    """A run that breaks off leaves it broken; the next one ends it by what is open."""
    shop.processor.add(listed(), listed("cs_2", metadata=RETIRED))

    def stop() -> None:
        raise ProcessorUnreachable("gone", same_key=True)

    for _ in range(2):
        with pytest.raises(ProcessorUnreachable):
            await shop.reconciliation.run(progress=stop)
        assert (await finding(shop)).state == "broken"
    await shop.reconciliation.run()
    assert (await finding(shop)).state == "broken"
    assert len([row for row in await shop.told() if row.priority == "urgent"]) == 1


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
    shop.processor.add(
        refused("cs_1"),
        session("cs_2", payment_status="unpaid", price_ids=("price_cissp",)),
        session("cs_3", price_ids=("price_cissp",)),
    )
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
    shop.processor.add(*map(refused, names))
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
    shop.processor.add(refused("cs_1"))
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
