"""An event id belongs to what came first under it; another event is told and does nothing (decision 44)."""

import asyncio
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.runtime.outbox import Notification
from tests.support.checkout import Shop, event_body, session_json
from tests.support.clock import ManualClock
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio


async def told_of(shop: Shop) -> list[Notification]:
    """Return the pushes about ids that came again."""
    return [row for row in await shop.told() if row.id.startswith("event-reused")]


OTHERS: list[dict[str, Any]] = [
    {"id": "cs_2", "payment_intent": "pi_cs_2"},
    {"customer_details": {"email": "mallory@example.org"}},
    {"amount_total": 1},
    {"livemode": True},
    {"metadata": {"productType": "cert", "certCode": "ccsp", "vendorSlug": "isc2"}},
]


@pytest.mark.parametrize("other", OTHERS)
async def test_the_first_stands_whole(other: dict[str, Any], shop: Shop) -> None:
    """Another body under the id of a sale changes no record and no raw event; the owner is told once."""
    await shop.offered("cs_1", "cs_2")
    await shop.receive("evt_1", session_json())
    before = await shop.entries()
    for _ in range(3):
        assert await shop.receive("evt_1", session_json(**other)) == "conflict"
    left = [entry for entry in await shop.entries() if not entry.key.startswith("outbox")]
    assert left == [entry for entry in before if not entry.key.startswith("outbox")]
    (push,) = await told_of(shop)
    assert (push.priority, "cs_" in push.model_dump_json()) == ("urgent", False)


async def test_another_session_under_the_id_of_one_that_waits(shop: Shop) -> None:
    """A paid session under the id of an unpaid one's event opens nothing."""
    await shop.offered("cs_1", "cs_2")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    assert await shop.receive("evt_1", session_json("cs_2")) == "conflict"
    assert await shop.entries("access:") == []
    assert await shop.raw_events.body("evt_1") == event_body("evt_1", session_json(payment_status="unpaid"))


async def test_paid_under_the_id_of_unpaid(shop: Shop) -> None:
    """What an event tells never changes: a body that says paid where the first said unpaid is another event."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    assert await shop.receive("evt_1", session_json()) == "conflict"
    assert await shop.entries("access:") == []


@pytest.mark.parametrize("kind", ["checkout.session.expired", "customer.created"])
async def test_another_type(kind: str) -> None:
    """A sale under the id of another type's event opens nothing, and the other way round."""
    first, second = Shop(), Shop()
    for shop in (first, second):
        await shop.offered("cs_1")
    await first.receive("evt_1", session_json(), kind)
    assert await first.receive("evt_1", session_json()) == "conflict"
    assert await first.entries("access:") == []
    await second.receive("evt_1", session_json())
    assert await second.receive("evt_1", session_json(), kind) == "conflict"
    assert await second.raw_events.body("evt_1") == event_body("evt_1", session_json())


async def test_another_foreign_session(shop: Shop) -> None:
    """A sale under the id of a foreign session's event opens nothing."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json("cs_9", metadata={}))
    assert await shop.receive("evt_1", session_json()) == "conflict"
    assert await shop.entries("access:") == []


async def test_an_unreadable_one_about_another_session() -> None:
    """What cannot be read must at least be about the same: else it is another event, whichever came first."""
    odd = session_json("cs_2", payment_status="halfway")
    first, second = Shop(), Shop()
    for shop in (first, second):
        await shop.offered("cs_1", "cs_2")
    await first.receive("evt_1", session_json())
    assert await first.receive("evt_1", odd) == "conflict"
    await second.receive("evt_1", odd)
    assert await second.receive("evt_1", session_json()) == "conflict"
    assert await second.entries("access:") == []


async def test_the_same_session_in_a_form_that_cannot_be_read(shop: Shop) -> None:
    """After the event was read, a copy of it that cannot be is a duplicate: nobody is told."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    assert await shop.receive("evt_1", session_json(payment_status="halfway")) == "duplicate"
    assert len(await shop.told()) == 2


async def test_two_bodies_at_once() -> None:
    """Of two sessions under one id at the same moment one is granted, its body kept, and the other told."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    await shop.offered("cs_1", "cs_2")
    bodies = {name: session_json(name) for name in ("cs_1", "cs_2")}
    results = await asyncio.gather(*(shop.receive("evt_1", body) for body in bodies.values()))
    assert sorted(results) == ["conflict", "granted"]
    (access,) = await shop.entries("access:")
    granted = access.key.removeprefix("access:")
    assert await shop.raw_events.body("evt_1") == event_body("evt_1", bodies[granted])
    assert len(await told_of(shop)) == 1


async def test_the_first_comes_while_the_second_is_settled() -> None:
    """A body that is stored between the second's look and its commit stands all the same."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop, faster = Shop(clock, store), Shop(clock, store.inside)
    await shop.offered("cs_1", "cs_2")

    async def overtake() -> None:
        store.overtaken_by = None
        await faster.receive("evt_1", session_json("cs_1", payment_status="unpaid"))

    store.overtaken_by = overtake
    assert await shop.receive("evt_1", session_json("cs_2")) == "conflict"
    assert await shop.entries("access:") == []


async def test_after_an_erasure_nothing_can_be_compared(shop: Shop) -> None:
    """A late copy of an erased buyer's event is a duplicate, and brings nothing of the buyer back."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    await shop.privacy.erase("ann@example.org", "asked by letter")
    assert await shop.receive("evt_1", session_json()) == "already"
    assert b"ann@" not in b"".join(entry.value for entry in await shop.entries())
