"""The processor's events beside ours, the replay of one, and ids that come twice (decision 44; change rule 5)."""

import ast
import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import orrery
from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.events import KnownEvent
from orrery.errors import Invalid, NotFound
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from orrery.runtime.outbox import Notification
from tests.support.checkout import Shop, event_body, ids, record, session_json
from tests.support.clock import START, ManualClock
from tests.support.items import gathered
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)
SOURCE = Path(orrery.__file__).parent


async def listed(shop: Shop, *, failed: bool = False) -> list[KnownEvent]:
    """Return the events of a week."""
    return await gathered(shop.events.list_events(WEEK, failed=failed))


async def became(shop: Shop) -> tuple[str, str]:
    """Return what the only event became, and why."""
    (event,) = await listed(shop)
    return event.became, event.why


async def test_an_event_that_came_in(shop: Shop) -> None:
    """An event that granted is told as stored and granted, with its session and its pending deliveries."""
    shop.happened(START, pending=0)
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    (event,) = await listed(shop)
    assert (event.id, event.session_id, event.pending, event.stored) == ("evt_1", "cs_1", 0, True)
    assert (event.became, event.why, event.failed) == ("granted", "", False)


async def test_an_event_that_never_came(shop: Shop) -> None:
    """A completed session whose event is not in the store never came."""
    shop.happened(START)
    assert await became(shop) == ("never came", "")


async def test_what_another_way_granted(shop: Shop) -> None:
    """When reconciliation was faster than the event, that is said; the event still failed to come."""
    shop.happened(START, pending=0)
    await shop.store.commit([Put("access:cs_1", record(granted_by="reconcile").to_bytes())])
    (event,) = await listed(shop, failed=True)
    assert (event.became, event.why, event.stored) == ("granted", "by reconcile", False)


async def test_what_waits_and_what_was_refused() -> None:
    """A session that is not paid waits, and one with another product is refused, each with its reason."""
    unpaid, other = Shop(), Shop()
    for shop, fields in ((unpaid, {"payment_status": "unpaid"}), (other, {})):
        shop.happened(START)
        await shop.offered("cs_1", cert_code="cissp" if shop is unpaid else "ccsp")
        await shop.receive("evt_1", session_json(**fields))
    assert await became(unpaid) == ("waiting", "unpaid")
    assert await became(other) == ("refused", "another product")


async def test_what_is_not_ours_and_what_asks_for_nothing() -> None:
    """A session without our metadata is foreign; a type that is not handled is ignored, once it is stored."""
    foreign, expired = Shop(), Shop()
    foreign.happened(START)
    await foreign.receive("evt_1", session_json(metadata={}))
    expired.happened(START, kind="checkout.session.expired")
    assert await became(expired) == ("never came", "")
    await expired.receive("evt_1", session_json(), "checkout.session.expired")
    assert await became(foreign) == ("foreign", "none of our products")
    assert await became(expired) == ("ignored", "")


async def test_only_events_about_sessions(shop: Shop) -> None:
    """Charges and all else that happens at the account are not listed."""
    shop.happened(START, kind="charge.succeeded")
    assert await listed(shop) == []


async def test_only_what_failed(shop: Shop) -> None:
    """With `failed` come deliveries that nobody accepted and completed sessions that never came in."""
    shop.happened(START, "evt_well", "cs_1", pending=0)
    shop.happened(START, "evt_pending", "cs_2", pending=1)
    shop.happened(START, "evt_lost", "cs_3", pending=0)
    shop.happened(START, "evt_expired", "cs_4", "checkout.session.expired", pending=0)
    for number, name in ((1, "evt_well"), (2, "evt_pending")):
        await shop.receive(name, session_json(f"cs_{number}"))
    assert [event.id for event in await listed(shop, failed=True)] == ["evt_lost", "evt_pending"]


async def test_nothing_older_than_asked_for(shop: Shop) -> None:
    """Events from before the window are not listed."""
    shop.happened(START - WEEK - HOUR)
    assert await listed(shop) == []


async def test_a_replay_grants_once(shop: Shop) -> None:
    """A replay grants and tells as the webhook does; a second one changes nothing at all and says so."""
    shop.happened(START)
    await shop.offered("cs_1")
    assert (await shop.events.replay("evt_1")).result == "granted"
    access = await shop.access()
    assert (access.event_id, access.granted_by) == ("evt_1", "webhook")
    assert sorted(ids(await shop.told())) == ["buyer-cs_1", "owner-cs_1"]
    before = await shop.entries()
    assert (await shop.events.replay("evt_1")).result == "already"
    assert await shop.entries() == before


async def test_a_replay_of_what_came_in(shop: Shop) -> None:
    """A replay of what the webhook has granted writes nothing and tells nobody."""
    shop.happened(START)
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    before = await shop.entries()
    replayed = await shop.events.replay("evt_1")
    assert (replayed.result, replayed.session_id) == ("already", "cs_1")
    assert await shop.entries() == before


async def test_the_webhook_after_a_replay(shop: Shop) -> None:
    """When the processor's own delivery comes after the replay, nothing more is granted or told."""
    shop.happened(START)
    await shop.offered("cs_1")
    await shop.events.replay("evt_1")
    before = await shop.entries()
    assert await shop.receive("evt_1", session_json()) == "already"
    assert await shop.entries() == before


async def test_a_replay_of_what_waits_tells_once(shop: Shop) -> None:
    """Replaying a session that is not paid yet tells the owner once, however often."""
    shop.happened(START, payment_status="unpaid")
    await shop.offered("cs_1")
    assert [(await shop.events.replay("evt_1")).result for _ in range(3)] == ["waiting"] * 3
    assert ids(await shop.told()) == ["withheld-cs_1-unpaid"]


async def test_a_replay_of_what_asks_for_nothing(shop: Shop) -> None:
    """An event of another type is stored, and the second time found there."""
    shop.happened(START, kind="checkout.session.expired")
    assert [(await shop.events.replay("evt_1")).result for _ in range(2)] == ["ignored", "duplicate"]


async def test_a_replay_of_what_is_not_ours(shop: Shop) -> None:
    """A session without our metadata grants nothing, and that is said."""
    shop.happened(START, metadata={})
    assert (await shop.events.replay("evt_1")).result == "foreign"
    assert not await shop.told()


@pytest.mark.parametrize(
    ("ours", "says"), [(True, "a test event.*sells in live"), (False, "a live event.*in test")]
)
async def test_an_event_of_another_mode(ours: bool, says: str) -> None:  # noqa: FBT001  a parameter of the test
    """An event of another mode is refused in a sentence, and nothing is written."""
    shop = Shop(livemode=ours)
    shop.happened(START)
    shop.processor.bodies["evt_1"] = shop.processor.bodies["evt_1"].replace(
        b'"livemode": false, "api_version"', b'"livemode": %s, "api_version"' % (b"false" if ours else b"true")
    )
    with pytest.raises(Invalid, match=says):
        await shop.events.replay("evt_1")
    assert await shop.entries() == []


@pytest.mark.parametrize(
    "name", ["", "evt_", "cs_1", "evt_1/../../charges", "evt_1?x=1", "EVT_1", "evt_" + "x" * 251]
)
async def test_what_is_no_id(name: str, shop: Shop) -> None:
    """What cannot be an event's id is refused before anybody is asked."""
    shop.processor.away = ProcessorUnreachable("asked", same_key=True)
    with pytest.raises(Invalid, match="begins with evt_"):
        await shop.events.replay(name)


async def test_an_event_that_the_processor_does_not_know() -> None:
    """An unknown id is bad input, with a sentence about how long events are kept."""
    with pytest.raises(NotFound, match="30 days"):
        await Shop().events.replay("evt_unknown")


@pytest.mark.parametrize(
    "trouble", [ProcessorRefused("No permission.", status=403), ProcessorUnreachable("Gone.", same_key=True)]
)
async def test_a_processor_that_does_not_answer(
    trouble: ProcessorRefused | ProcessorUnreachable, shop: Shop
) -> None:
    """What the processor refuses or fails to answer is passed on as it is."""
    shop.processor.away = trouble
    with pytest.raises(type(trouble)):
        await shop.events.replay("evt_1")
    with pytest.raises(type(trouble)):
        await listed(shop)


async def test_the_finding_when_all_came(shop: Shop) -> None:
    """Without an undelivered event all is well."""
    shop.happened(START, pending=0)
    found = await shop.events.finding()
    assert (found.part, found.state) == ("webhook deliveries", "ok")
    assert "delivered" in found.why


async def test_the_finding_when_events_did_not_arrive(shop: Shop) -> None:
    """Completed sessions that are not here are counted, with the oldest and what to type."""
    shop.happened(START - timedelta(days=3), "evt_1", "cs_1")
    shop.happened(START - HOUR, "evt_2", "cs_2")
    shop.happened(START - HOUR, "evt_3", "cs_3", "charge.succeeded")
    shop.happened(START - timedelta(days=8), "evt_4", "cs_4")
    found = await shop.events.finding()
    assert found.state == "broken"
    assert "did not arrive: 2, the oldest of 2026-02-26T12:00:00Z" in found.why
    assert "orrery checkout events --failed" in found.todo


async def test_the_finding_when_another_way_was_taken(shop: Shop) -> None:
    """An undelivered event that a replay took in, or that is only seconds old, is nothing broken."""
    shop.happened(START - HOUR, "evt_1", "cs_1")
    shop.happened(START - timedelta(seconds=5), "evt_2", "cs_2")
    await shop.offered("cs_1")
    await shop.events.replay("evt_1")
    found = await shop.events.finding()
    assert found.state == "ok"
    assert "pending: 2" in found.why


def test_nothing_else_goes_behind_the_signature_check() -> None:
    """Only the webhook and the wiring of the replay name the way behind the signature check; no route does."""
    private = {"_receive", "_dispatch"}  # others may have names of their own that are alike
    names = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and (
            node.attr == "receive_verified"
            or (node.attr in private and "checkout" in path.relative_to(SOURCE).parts)
        )
    }
    assert names == {"checkout/access/webhook.py", "checkout/build.py", "checkout/access/events.py"}
    for path in [*SOURCE.rglob("routes.py"), *(SOURCE / "edge").glob("*.py")]:
        assert "checkout.events" not in path.read_text(encoding="utf-8")


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
