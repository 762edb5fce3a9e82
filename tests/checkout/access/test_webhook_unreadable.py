"""What cannot be read: a signed event is kept (decision 44), an object of the processor's hides no other."""

import asyncio
import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout import probe
from orrery.checkout.access.events import ERASED_EVENT
from orrery.checkout.access.report import UnreadableObject
from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.processor import split_unreadable
from orrery.ports.processor.errors import ItemUnreadable
from orrery.ports.store import Put
from orrery.runtime.outbox import Notification
from tests.support.checkout import PRODUCT, Shop, event_body, ids, session, session_json, signed
from tests.support.clock import START, ManualClock
from tests.support.items import gathered
from tests.support.unreliable_store import UnreliableStore

DAY = timedelta(days=1)
NO_JSON = [b"", b"[]", b"{}", b"null", b"\xff\xfe", b'"evt"', b"[" * 10_000, b"{"]
ODD = event_body("evt_1", session_json(payment_status="halfway"))
"""A completed session whose payment status is not one that we know."""


async def receive(shop: Shop, body: bytes) -> str:
    """Deliver a well-signed body."""
    return await shop.webhook.receive(body, signed(body, shop.clock.now()))


async def pushes(shop: Shop) -> list[Notification]:
    """Return the pushes about events."""
    return [row for row in await shop.told() if row.id.startswith(("unreadable-event", "event-reused"))]


@pytest.mark.parametrize("body", NO_JSON)
async def test_any_signed_body_is_kept(body: bytes, shop: Shop) -> None:
    """A body without a usable id is stored as it came, under its digest, and the owner is told."""
    assert await receive(shop, body) == "unreadable"
    name = f"sha256-{hashlib.sha256(body).hexdigest()}"
    (event,) = await shop.entries("event:")
    assert (event.key, event.value) == (f"event:{name}", body)
    (push,) = await pushes(shop)
    assert (push.priority, name in push.body) == ("urgent", True)


@pytest.mark.parametrize(
    "changed",
    [{"payment_status": "halfway"}, {"status": None}, {"amount_total": "49"}, {"metadata": [1]}, {"id": ""}],
)
async def test_a_completed_session_that_cannot_be_read(changed: dict[str, Any], shop: Shop) -> None:
    """It opens nothing, is stored under its id with the names of the fields, and no value of them."""
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json(**changed)) == "unreadable"
    assert await shop.entries("access:") == []
    note = await shop.events.note("evt_1")
    assert note is not None
    assert note.fields == (f"data.object.{next(iter(changed))}",)
    assert await shop.events.body("evt_1") == event_body("evt_1", session_json(**changed))


async def test_a_completed_event_about_something_else(shop: Shop) -> None:
    """A completed event whose object is no session is kept as one that cannot be read."""
    assert await shop.receive("evt_1", {"id": "ch_1", "object": "charge"}) == "unreadable"


async def test_a_session_of_an_event_that_asks_for_nothing(shop: Shop) -> None:
    """Of an event that is not acted on, nobody needs to read the session."""
    odd = session_json(payment_status="halfway")
    assert await shop.receive("evt_1", odd, "checkout.session.expired") == "ignored"
    assert await pushes(shop) == []


async def test_many_are_one_push_a_day(shop: Shop) -> None:
    """However many come, there is one push a day; each is kept and listed."""
    for number in range(5):
        assert await shop.receive(f"evt_{number}", session_json(payment_status="halfway")) == "unreadable"
    assert ids(await pushes(shop)) == ["unreadable-event-20260301"]
    assert len(await shop.events.unreadable(START)) == 5
    shop.clock.advance(DAY.total_seconds())
    await shop.receive("evt_9", session_json(payment_status="halfway"))
    assert len(await pushes(shop)) == 2


async def test_the_same_one_again(shop: Shop) -> None:
    """A repeat is acknowledged and changes nothing."""
    await receive(shop, ODD)
    before = await shop.entries()
    assert await receive(shop, ODD) == "unreadable"
    assert await shop.entries() == before


async def test_the_same_one_twice_at_once() -> None:
    """Of two deliveries at the same moment one is kept."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    assert await asyncio.gather(*(receive(shop, ODD) for _ in range(8))) == ["unreadable"] * 8
    assert len(await shop.entries("event:")) == len(await pushes(shop)) == 1


async def test_a_store_that_fails() -> None:
    """When it cannot be stored, the processor hears of it and sends it again."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    store.commit_errors = [StoreUnavailable("full")]
    with pytest.raises(StoreUnavailable):
        await receive(shop, ODD)
    assert await shop.entries() == []


async def test_a_mended_vendor(shop: Shop) -> None:
    """A replay takes it in once the processor writes it as documented: access is granted, the note is over."""
    await shop.offered("cs_1")
    await receive(shop, ODD)
    shop.happened(START)
    assert (await shop.webhook.replay("evt_1")).result == "granted"
    assert await shop.events.note("evt_1") is None
    assert await shop.events.body("evt_1") == ODD
    assert (await shop.webhook.replay("evt_1")).result == "already"


@pytest.mark.parametrize("at_the_processor", [True, False])
async def test_a_newer_release(at_the_processor: bool, shop: Shop) -> None:  # noqa: FBT001  a parameter of the test
    """What an older release could not read is taken in from what was kept, whatever the processor has of it."""
    await shop.offered("cs_1")
    await receive(shop, ODD)
    # The release that reads it: here what is kept becomes readable.
    readable = event_body("evt_1", session_json())
    await shop.store.commit([Put("event:evt_1", readable)])
    if at_the_processor:
        shop.happened(START)
        shop.processor.bodies["evt_1"] = ODD
    assert (await shop.webhook.replay("evt_1")).result == "granted"
    assert await shop.events.note("evt_1") is None


async def test_one_without_an_id_is_replayed_by_its_digest(shop: Shop) -> None:
    """A newer release that reads it stores it under its id, and the note is over."""
    await shop.offered("cs_1")
    await receive(shop, b"{}")
    (note,) = await shop.events.unreadable(START)
    assert (await shop.webhook.replay(note.event_id)).result == "unreadable"
    await shop.store.commit([Put(f"event:{note.event_id}", event_body("evt_1", session_json()))])
    assert (await shop.webhook.replay(note.event_id)).result == "granted"
    assert await shop.events.unreadable(START) == []


async def test_it_is_listed_and_found_by_the_doctor(shop: Shop) -> None:
    """`events` lists it with the fields; `doctor` counts it until another way has granted its session."""
    await shop.offered("cs_1")
    await receive(shop, ODD)
    await receive(shop, b"{}")
    shop.happened(START, pending=0)
    first, second = await gathered(shop.events.list_events(DAY, failed=True))
    assert (first.id, first.became, first.why) == ("evt_1", "unreadable", "data.object.payment_status")
    assert (second.became, second.id[:7]) == ("unreadable", "sha256-")
    found = await shop.events.finding()
    assert (found.state, "cannot be read: 2" in found.why) == ("broken", True)
    await shop.desk.grant("ann@example.org", PRODUCT.key, "paid, as the dashboard says", session_id="cs_1")
    assert "cannot be read: 1" in (await shop.events.finding()).why


async def test_it_can_be_erased(shop: Shop) -> None:
    """A body that is no JSON is searched for the address of a person like any other, and is not replayed then."""
    await receive(shop, b"\xff ann@example.org bought it")
    (note,) = await shop.events.unreadable(START)
    await shop.privacy.erase("ann@example.org", "asked by letter")
    (event,) = await shop.entries("event:")
    assert event.value == ERASED_EVENT
    with pytest.raises(Invalid):
        await shop.webhook.replay(note.event_id)


async def test_our_own_probe_is_not_kept(shop: Shop) -> None:
    """What `orrery secrets check` sends is refused, and leaves nothing."""
    with pytest.raises(Invalid, match="not an event"):
        await receive(shop, probe.BODY)
    assert await shop.entries() == []


async def test_a_fetched_copy_is_the_same_event(shop: Shop) -> None:
    """The processor lays an event out anew when it is fetched, and counts deliveries: it is no other event."""
    await shop.offered("cs_1")
    body = event_body("evt_1", session_json())
    await receive(shop, body)
    fetched = json.dumps(json.loads(body) | {"pending_webhooks": 3, "api_version": None}, indent=2).encode()
    assert await shop.webhook.receive_verified(shop.events.read(fetched)) == "already"
    assert await pushes(shop) == []
    assert await shop.events.body("evt_1") == body


WEEK = timedelta(days=7)
ODD_SESSION = ItemUnreadable("checkout.session", "cs_odd", ("payment_status",))


def shop() -> Shop:
    """Return a shop whose processor lists a session that cannot be read, and behind it one that is paid."""
    found = Shop()
    found.processor.unreadable.append(ODD_SESSION)
    found.processor.add(session(price_ids=("price_cissp",)))
    return found


async def test_the_sessions_behind_it_are_reconciled() -> None:
    """The paid session of the same page is granted; the report names the other, with its field."""
    found = shop()
    await found.offered("cs_1")
    report = await found.reconciliation.run()
    assert report.granted == ["cs_1"]
    assert report.unread == [UnreadableObject("checkout.session", "cs_odd", ("payment_status",))]


async def test_it_is_told_once_without_its_id() -> None:
    """The owner is told once, however often it is met; a session's id opens what was bought, and is in no push."""
    found = shop()
    await found.offered("cs_1")
    for _ in range(3):
        await found.reconciliation.run_unattended()
    (push,) = [row for row in await found.told() if row.id.startswith("unread-")]
    assert push.priority == "urgent"
    assert "payment_status" in push.body
    assert "cs_odd" not in push.model_dump_json()


async def test_a_waiting_session_that_cannot_be_read() -> None:
    """A session that waits and cannot be read is named, and those behind it are looked at."""
    found = Shop()
    await found.offered("cs_1", "cs_odd")
    for name in ("cs_1", "cs_odd"):
        await found.receive(f"evt_{name}", session_json(name, payment_status="unpaid"))
    found.clock.advance(timedelta(days=40).total_seconds())
    found.processor.add(session(price_ids=("price_cissp",)))
    found.processor.unreadable.append(ODD_SESSION)
    report = await found.reconciliation.run()
    assert report.granted == ["cs_1"]
    assert {one.id for one in report.unread} == {"cs_odd"}


async def test_events_behind_it_are_listed(shop: Shop) -> None:
    """The list of events goes on behind one that cannot be read, and names it; `doctor` says so, too."""
    shop.happened(START, pending=0)
    shop.processor.unreadable.append(ItemUnreadable("event", "evt_odd", ("type",)))
    known, unread = split_unreadable([one async for one in shop.events.list_events(WEEK)])
    assert ([one.id for one in known], [one.item_id for one in unread]) == (["evt_1"], ["evt_odd"])
    found = await shop.events.finding()
    assert (found.state, "cannot be read: 1" in found.why) == ("broken", True)


async def test_nothing_of_it_is_taken_for_a_sale() -> None:
    """A session that cannot be read gets no access and no note."""
    found = shop()
    await found.offered("cs_1")
    await found.reconciliation.run()
    assert await found.entries("access:cs_odd") == []
    assert ids(await found.told()) == ["buyer-cs_1", "owner-cs_1"]
