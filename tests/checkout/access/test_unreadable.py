"""Records that were altered by hand, cut, or written by a newer version: told by name, and never written over."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.privacy import KEEP_ADDRESSES
from orrery.errors import OrreryError, RecordUnreadable
from orrery.ports.store import Put
from orrery.runtime import outbox
from orrery.runtime.lease import Lease
from orrery.runtime.restored import last_restore
from tests.support.checkout import BUYER, OTHER, PRODUCT, Shop, metadata_of, record, session_json
from tests.support.clock import ManualClock
from tests.support.damaged import CLICK, DAMAGES, Action, World, cut
from tests.support.items import gathered
from tests.support.rehearsal import Counterpart
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

WEEK = timedelta(days=7)

KINDS = (
    "access:",
    "access-by-email:",
    "access-by-time:",
    "access-end:",
    "attempt:",
    "checkout-drift",
    "event:",
    "journal:",
    "lease:",
    "offer:",
    "offer-address:",
    "outbox-held:",
    "outbox-next:",
    "outbox:",
    "own-session:",
    "pending:",
    "preflight:",
    "preflight-left:",
    "receipt:",
    "reconciled",
    "restored-at",
    "verifying:",
)


async def all_events(world: World) -> None:
    """List the events."""
    assert await gathered(world.shop.events.list_events(WEEK))


async def all_records(world: World) -> None:
    """List the access records."""
    found = await world.shop.desk.newest(50)
    assert not found.is_empty


async def all_rows(world: World) -> None:
    """List the notifications, and count them."""
    async for _ in world.shop.outbox.rows():
        continue
    for state in ("waiting", "held", "dead"):
        await world.shop.outbox.count(state)
    await world.shop.outbox.undelivered(None)


async def every_row_released(world: World) -> None:
    """Release and drop each notification."""
    for entry in await world.shop.entries(outbox.ROW):
        for change in (world.shop.outbox.release, world.shop.outbox.drop):
            with suppress(RecordUnreadable):
                await change(entry.key.removeprefix(outbox.ROW))


async def led(world: World) -> None:
    """Take and give up a job."""
    lease = Lease(world.shop.store, world.shop.clock, "reconcile", "here", timedelta(seconds=30))
    await lease.take()
    await lease.give_up()


async def covered(world: World) -> None:
    """Ask whether an approval covers a session."""
    intent = (await world.rehearsal.approvals.proposals())[0].intent
    await world.rehearsal.expiry.covers(intent, "cs_1")


async def old_addresses(world: World) -> None:
    """Erase the client addresses that are due."""
    world.shop.clock.advance(KEEP_ADDRESSES.total_seconds() + 1)
    await world.shop.buyer_data.erase_old_addresses()


ACTIONS: dict[str, Action] = {
    "webhook, granted": lambda world: world.shop.receive("evt_11", session_json("cs_1")),
    "webhook, unpaid": lambda world: world.shop.receive("evt_12", session_json("cs_2", payment_status="unpaid")),
    "webhook, refused": lambda world: world.shop.receive(
        "evt_13", session_json("cs_2", metadata=metadata_of(OTHER))
    ),
    "webhook, new": lambda world: world.shop.receive("evt_14", session_json("cs_3")),
    "success page": lambda world: world.shop.session_states.of("cs_1"),
    "success page, pending": lambda world: world.shop.session_states.of("cs_2"),
    "practice site": lambda world: world.shop.lookup.check_session("cs_1", "cissp"),
    "practice site, by address": lambda world: world.shop.lookup.check_email(BUYER, "cissp"),
    "operation": lambda world: world.shop.checkout.create(CLICK),
    "access list": all_records,
    "access show": lambda world: world.shop.desk.find("cs_1"),
    "access show, by address": lambda world: world.shop.desk.find(BUYER),
    "access journal": lambda world: world.shop.desk.journal(50),
    "access resend": lambda world: world.shop.desk.resend("cs_1", "why"),
    "access change-email": lambda world: world.shop.desk.change_email("cs_1", "bob@example.org", "why"),
    "access change-email, back": lambda world: world.shop.desk.change_email("cs_1", BUYER, "why"),
    "access grant": lambda world: world.shop.desk.grant(BUYER, PRODUCT.key, "why"),
    "access grant, a session": lambda world: world.shop.desk.grant(BUYER, PRODUCT.key, "why", session_id="cs_1"),
    "access revoke": lambda world: world.shop.desk.revoke("cs_1", "why"),
    "reconcile, dry": lambda world: world.shop.reconciliation.run(dry_run=True),
    "reconcile, a long time": lambda world: world.shop.reconciliation.run(timedelta(seconds=1), dry_run=True),
    "reconcile": lambda world: world.shop.reconciliation.run(),
    "reconcile, unattended": lambda world: world.shop.reconciliation.run_unattended(),
    "page, reconciliation": lambda world: world.shop.reconciliation.panel(),
    "page, sales": lambda world: world.shop.sales.panel(),
    "checkout events": all_events,
    "doctor, events": lambda world: world.shop.events.finding(),
    "checkout events --replay": lambda world: world.shop.webhook.replay("evt_3"),
    "address of a payment": lambda world: world.shop.lookup.address_of("pi_cs_1"),
    "preflight": lambda world: world.rehearsal.run(),
    "preflight, changed": lambda world: world.rehearsal.again(api_version="2026-09-30.endive").run(),
    "preflight, signed": lambda world: world.rehearsal.preflighted(),
    "preflight --pending": lambda world: world.rehearsal.selling.statuses([PRODUCT]),
    "page, receipts": lambda world: world.rehearsal.preflight.panel(),
    "readyz": lambda world: world.rehearsal.preflight.local(),
    "selling": lambda world: world.rehearsal.selling.current_offer(PRODUCT.key),
    "covers": covered,
    "verify": lambda world: world.rehearsal.verification.run(PRODUCT, Counterpart(world.rehearsal)),
    "look for drift": lambda world: world.rehearsal.drift.check_newest(),
    "page, drift": lambda world: world.rehearsal.drift.panel(),
    "last look": lambda world: world.rehearsal.drift.panel(),
    "last restore": lambda world: last_restore(world.shop.store, world.shop.clock),
    "lease": led,
    "notifications": all_rows,
    "dead notifications": lambda world: world.shop.outbox.undelivered(10, "dead"),
    "stuck notifications": lambda world: world.shop.outbox.stuck(),
    "deliver, after another process": lambda world: world.shop.outbox.deliver_due(since=7),
    "deliver": lambda world: world.shop.outbox.deliver_due(),
    "release and drop": every_row_released,
    "restore": lambda world: world.restoration.settle(None),
    "privacy export": lambda world: world.shop.privacy.export(BUYER),
    "old addresses": old_addresses,
    "privacy erase": lambda world: world.shop.privacy.erase(BUYER, "why"),
}
"""What reads records, by the name under which the owner or a visitor meets it."""


async def world_with(kind: str) -> World:
    """Return a deployment that keeps something of a kind."""
    world = await World().lived_in()
    if kind == "lease:":
        await led(world)
        lease = Lease(world.shop.store, world.shop.clock, "reconcile", "elsewhere", timedelta(seconds=30))
        await lease.take()
    if kind == "outbox-next:":
        await world.shop.desk.resend("cs_1", "why")
    return world


READ: dict[str, frozenset[str]] = {}
"""The kinds that each action reads."""


async def actions_on(kind: str) -> list[str]:
    """Return the actions that read a kind where nothing is damaged: what reads none of it meets no damage."""
    if not READ:
        clock = ManualClock()
        counting = UnreliableStore(MemoryStore(clock))
        world = await World(Shop(clock, counting)).live()
        for name, action in ACTIONS.items():
            counting.reads.clear()
            with suppress(OrreryError):
                await action(world)
            READ[name] = frozenset(counting.reads)
    found = [name for name, read in READ.items() if any(map(kind.startswith, read))]
    assert found, f"nothing reads {kind}"
    return found


@each_case("how", DAMAGES)
@each_case("kind", KINDS)
async def test_whatever_is_damaged(kind: str, how: Callable[[bytes], bytes]) -> None:
    """Whatever kind of record is damaged, its reader ends well or with an error of ours, within its rounds.

    What it finds damaged under an access record's key is still there afterwards.
    """
    world = await world_with(kind)
    damaged = await world.damage(kind, how)
    for name in await actions_on(kind):
        said = ""
        try:
            await ACTIONS[name](world)
        except OrreryError as error:
            said = str(error)
        except Exception as error:  # noqa: BLE001  the test names which action let it out
            pytest.fail(f"{name} let out {error!r}")
        assert BUYER not in said, name
        kept = {key: await world.value(key) for key in damaged}
        assert kind != "access:" or kept == damaged, f"{name} wrote over a proof of sale"
        await world.shop.store.commit([Put(key, value) for key, value in damaged.items()])


async def test_a_proof_of_sale_that_cannot_be_read() -> None:
    """An event whose access record cannot be read leaves the store as it was, so that it comes again."""
    world = await World().lived_in()
    whole = await world.value("access:cs_1")
    await world.damage("access:", cut)
    before = await world.shop.entries()
    for _ in range(2):
        with pytest.raises(RecordUnreadable, match="access:cs_1"):
            await world.shop.receive("evt_9", session_json("cs_1"))
    assert await world.shop.entries() == before
    await world.shop.store.commit([Put("access:cs_1", whole or b"")])
    assert await world.shop.receive("evt_9", session_json("cs_1")) == "already"


@pytest.mark.parametrize("kind", ["offer:", "access-end:"])
async def test_what_has_its_access_needs_nothing_else(kind: str) -> None:
    """An event that comes again is answered, whatever else of its session cannot be read."""
    world = await World().lived_in()
    await world.damage(kind, cut)
    assert await world.shop.receive("evt_1", session_json("cs_1")) == "already"


async def test_a_further_year_waits_for_the_end_of_the_first() -> None:
    """A second purchase waits while the end that it extends cannot be read; mended, its event grants it."""
    world = await World().lived_in()
    end = await world.only("access-end:")
    await world.damage("access-end:", cut)
    with pytest.raises(RecordUnreadable, match=r"access-end:….*cissp"):
        await world.shop.receive("evt_3", session_json("cs_3"))
    report = await world.shop.reconciliation.run()
    assert [(one.session_id, one.reason) for one in report.paid_without_access] == [
        ("cs_3", "access-end:…:cert:isc2:cissp cannot be read")
    ]
    await world.shop.store.commit([Put(end.key, end.value)])
    assert await world.shop.receive("evt_3", session_json("cs_3")) == "granted"
    assert (await world.shop.access("cs_3")).expires_at > (await world.shop.access("cs_1")).expires_at


async def test_an_offer_that_cannot_be_read() -> None:
    """The webhook waits for it; reconciliation holds the session against the catalogue, and says so."""
    world = await World().lived_in()
    await world.damage("offer:", cut)
    with pytest.raises(RecordUnreadable, match="offer:cs_3"):
        await world.shop.receive("evt_3", session_json("cs_3"))
    report = await world.shop.reconciliation.run()
    assert report.granted == ["cs_3"]
    (sold,) = [row for row in await world.shop.told() if row.id == "owner-cs_3"]
    assert "Its offer cannot be read" in sold.body


async def test_reconciliation_goes_on() -> None:
    """The others are reconciled; what cannot be read is named in the report, in the list, and on the page."""
    world = await World().lived_in()
    await world.damage("access:", cut)
    await world.damage("pending:", cut)
    await world.damage("restored-at", cut)
    for _ in range(2):
        await world.shop.reconciliation.run_unattended()
    report = await world.shop.reconciliation.run(dry_run=True)
    assert sorted(report.unreadable) == ["access:cs_1", "pending:cs_2", "restored-at"]
    assert (report.examined, report.with_access, report.unpaid) == (3, 1, ["cs_2"])
    (problem,) = await world.shop.reconciliation.findings()
    assert sorted(problem.items) == sorted(report.unreadable)
    panel = await world.shop.reconciliation.panel()
    assert (panel.tone, "3 records that cannot be read" in panel.headline) == ("bad", True)
    assert ("access:cs_1", "record", "cannot be read") in panel.rows


async def test_a_restore_that_cannot_be_read() -> None:
    """While it is not known who was told before, what reconciliation grants is told when it is released."""
    world = await World().lived_in()
    damaged = await world.damage("restored-at", cut)
    report = await world.shop.reconciliation.run()
    assert (report.granted, report.held_notifications) == (["cs_3"], 1)
    held = {row.id for row in await world.shop.told() if row.state == "held"}
    assert {"owner-cs_3", "buyer-cs_3"} <= held
    assert await world.value("restored-at") == damaged["restored-at"]


async def test_lists_tell_the_others() -> None:
    """A list holds what can be read, and names what cannot, whether the record or its index is damaged."""
    world = await World().lived_in()
    await world.shop.receive("evt_3", session_json("cs_3"))
    await world.shop.store.commit([Put("access:cs_1", b"{"), Put("access-by-time:9", b"\xff")])
    found = await world.shop.desk.newest(50)
    assert [one.session_id for one in found.values()] == ["cs_3"]
    assert sorted(one.name for one in found.unreadable) == ["access-by-time:9", "access:cs_1"]
    found = await world.shop.desk.find(BUYER)
    assert ([one.id for one in found.records], [one.name for one in found.unreadable]) == (
        ["cs_3"],
        ["access:cs_1"],
    )
    panel = await world.shop.sales.panel()
    assert (panel.tone, "Not counted, because they cannot be read: 2." in panel.todo) == ("attention", True)
    assert panel.headline.startswith("1 sold today")


async def test_an_index_that_leads_nowhere(shop: Shop) -> None:
    """What is left of a session's id leads to no record, and is told instead of passing for nothing bought."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json("cs_1"))
    for prefix in ("access-by-time:", "access-by-email:"):
        (index,) = await shop.entries(prefix)
        await shop.store.commit([Put(index.key, index.value[:-1])])
    (error,) = (await shop.desk.newest(50)).unreadable
    assert error.name.startswith("access-by-time:")
    with pytest.raises(RecordUnreadable, match=r"access-by-email:…:cs_1"):
        await shop.lookup.check_email(BUYER, "cissp")
    assert "cannot be read: 1" in (await shop.sales.panel()).todo


async def test_a_journal_tells_the_others() -> None:
    """A change by hand that cannot be read hides none of the others."""
    world = await World().lived_in()
    await world.damage("journal:", cut)
    await world.shop.desk.resend("cs_1", "again")
    found = await world.shop.desk.journal(10)
    assert ([one.reason for one in found.values()], len(found.unreadable)) == (["again"], 1)


async def test_a_practice_site_is_told_no_falsehood(shop: Shop) -> None:
    """Another purchase opens the access; without one it is not said that there is none."""
    await shop.offered("cs_1", "cs_2")
    await shop.receive("evt_1", session_json("cs_1"))
    await shop.store.commit([Put("access:cs_1", b"{")])
    with pytest.raises(RecordUnreadable):
        await shop.lookup.check_email(BUYER, "cissp")
    other = record("cs_2")
    await shop.store.commit(
        [Put("access:cs_2", other.to_bytes()), Put(f"{shop.stored.of_buyer(BUYER)[0]}cs_2", b"cs_2")]
    )
    assert (await shop.lookup.check_email(BUYER, "cissp")).expires_at == other.expires_at
    with pytest.raises(RecordUnreadable):
        await shop.lookup.check_email(BUYER, "ccsp")


async def test_what_became_of_an_event() -> None:
    """The list of events goes on where what followed cannot be read, and names the record."""
    world = await World().lived_in()
    await world.damage("access:", cut)
    known = {one.id: (one.became, one.why) for one in await gathered(world.shop.events.list_events(WEEK))}
    assert known["evt_1"] == ("unreadable", "access:cs_1")
    assert known["evt_2"] == ("waiting", "unpaid")


async def test_a_notification_that_cannot_be_read() -> None:
    """The owner is told which notifications cannot be read, and can neither release nor drop them."""
    world = await World().lived_in()
    await world.damage("outbox:buyer-cs_1", cut)
    page = await world.shop.outbox.undelivered(None)
    assert "buyer-cs_1" not in [row.id for row in page.records]
    assert "outbox:buyer-cs_1" in [one.name for one in page.unreadable]
    for change in (world.shop.outbox.release, world.shop.outbox.drop):
        with pytest.raises(RecordUnreadable):
            await change("buyer-cs_1")
