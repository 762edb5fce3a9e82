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
from orrery.checkout.records import COMPLETED
from orrery.errors import Invalid, NotFound
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from orrery.runtime.outbox import Notification
from tests.support.checkout import Shop, event_body, ids, record, session_json
from tests.support.clock import START, ManualClock
from tests.support.items import gathered
from tests.support.unreliable_store import UnreliableStore

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


EXPIRED = "checkout.session.expired"
BECAME: list[tuple[dict[str, Any], str, str, tuple[str, str]]] = [
    ({}, COMPLETED, "cissp", ("granted", "")),
    ({"payment_status": "unpaid"}, COMPLETED, "cissp", ("waiting", "unpaid")),
    ({}, COMPLETED, "ccsp", ("refused", "another product")),
    ({"metadata": {}}, COMPLETED, "cissp", ("foreign", "none of our products")),
    ({}, EXPIRED, "cissp", ("ignored", "")),
]
"""The session, the type, the certification that was offered; and what the event became, and why."""


@pytest.mark.parametrize(("fields", "kind", "cert_code", "expected"), BECAME)
async def test_what_an_event_became(
    fields: dict[str, Any], kind: str, cert_code: str, expected: tuple[str, str], shop: Shop
) -> None:
    """Before it is in the store it never came; then its result is told, with its session and its deliveries."""
    shop.happened(START, kind=kind, pending=0)
    assert await became(shop) == ("never came", "")
    await shop.offered("cs_1", cert_code=cert_code)
    await shop.receive("evt_1", session_json(**fields), kind)
    assert await became(shop) == expected
    (event,) = await listed(shop)
    assert (event.id, event.session_id, event.pending, event.stored) == ("evt_1", "cs_1", 0, True)
    assert not event.failed


async def test_what_another_way_granted(shop: Shop) -> None:
    """When reconciliation was faster than the event, that is said; the event still failed to come."""
    shop.happened(START, pending=0)
    await shop.store.commit([Put("access:cs_1", record(granted_by="reconcile").to_bytes())])
    (event,) = await listed(shop, failed=True)
    assert (event.became, event.why, event.stored) == ("granted", "by reconcile", False)


async def test_what_is_not_listed(shop: Shop) -> None:
    """Charges and all else that happens at the account are not listed, nor what is older than the window."""
    shop.happened(START, kind="charge.succeeded")
    shop.happened(START - WEEK - HOUR)
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


async def test_a_replay_grants_once(shop: Shop) -> None:
    """A replay grants and tells as the webhook does; a second one changes nothing at all and says so."""
    shop.happened(START)
    await shop.offered("cs_1")
    assert (await shop.webhook.replay("evt_1")).result == "granted"
    access = await shop.access()
    assert (access.event_id, access.granted_by) == ("evt_1", "webhook")
    assert sorted(ids(await shop.told())) == ["buyer-cs_1", "owner-cs_1"]
    before = await shop.entries()
    assert (await shop.webhook.replay("evt_1")).result == "already"
    assert await shop.entries() == before


@pytest.mark.parametrize("replayed_first", [False, True])
async def test_a_replay_and_the_webhook(replayed_first: bool, shop: Shop) -> None:  # noqa: FBT001  a row of the table
    """Whichever comes second, nothing more is granted, written or told."""
    shop.happened(START)
    await shop.offered("cs_1")
    ways = [lambda: shop.receive("evt_1", session_json()), lambda: replay(shop)]
    first, second = reversed(ways) if replayed_first else ways
    assert await first() == "granted"
    before = await shop.entries()
    assert await second() == "already"
    assert await shop.entries() == before


async def replay(shop: Shop) -> str:
    """Replay the event; return what came of it."""
    return (await shop.webhook.replay("evt_1")).result


@pytest.mark.parametrize(
    ("fields", "kind", "results", "told"),
    [
        ({"payment_status": "unpaid"}, COMPLETED, ["waiting"] * 3, ["withheld-cs_1-unpaid"]),
        ({}, EXPIRED, ["ignored", "duplicate", "duplicate"], []),
        ({"metadata": {}}, COMPLETED, ["foreign"] * 3, []),
    ],
)
async def test_a_replay_that_grants_nothing(
    fields: dict[str, Any], kind: str, results: list[str], told: list[str], shop: Shop
) -> None:
    """What is not paid, asks for nothing or is not ours is told as that, once, however often it is replayed."""
    shop.happened(START, kind=kind, **fields)
    await shop.offered("cs_1")
    assert [await replay(shop) for _ in range(3)] == results
    assert ids(await shop.told()) == told


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
        await shop.webhook.replay("evt_1")
    assert await shop.entries() == []


@pytest.mark.parametrize(
    "name", ["", "evt_", "cs_1", "evt_1/../../charges", "evt_1?x=1", "EVT_1", "evt_" + "x" * 251]
)
async def test_what_is_no_id(name: str, shop: Shop) -> None:
    """What cannot be an event's id is refused before anybody is asked."""
    shop.processor.away = ProcessorUnreachable("asked", same_key=True)
    with pytest.raises(Invalid, match="begins with evt_"):
        await shop.webhook.replay(name)


async def test_an_event_that_the_processor_does_not_know() -> None:
    """An unknown id is bad input, with a sentence about how long events are kept."""
    with pytest.raises(NotFound, match="30 days"):
        await Shop().webhook.replay("evt_unknown")


@pytest.mark.parametrize(
    "trouble", [ProcessorRefused("No permission.", status=403), ProcessorUnreachable("Gone.", same_key=True)]
)
async def test_a_processor_that_does_not_answer(
    trouble: ProcessorRefused | ProcessorUnreachable, shop: Shop
) -> None:
    """What the processor refuses or fails to answer is passed on as it is."""
    shop.processor.away = trouble
    with pytest.raises(type(trouble)):
        await shop.webhook.replay("evt_1")
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
    await shop.webhook.replay("evt_1")
    found = await shop.events.finding()
    assert found.state == "ok"
    assert "pending: 2" in found.why


def test_nothing_else_goes_behind_the_signature_check() -> None:
    """Only the webhook and the replay beside it name the way behind the signature check; no route does."""
    names = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "receive_verified"
    }
    assert names == {"checkout/access/fulfilment.py"}
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


UNPAID, ODD = {"payment_status": "unpaid"}, session_json("cs_2", payment_status="halfway")
SALE = (session_json(), COMPLETED)
OTHER_EVENTS = [(session_json(), EXPIRED), (session_json(), "customer.created"), (ODD, COMPLETED)]
CONFLICTS: list[tuple[tuple[dict[str, Any], str], tuple[dict[str, Any], str]]] = [
    ((session_json(**UNPAID), COMPLETED), (session_json("cs_2"), COMPLETED)),
    ((session_json(**UNPAID), COMPLETED), SALE),
    ((session_json("cs_9", metadata={}), COMPLETED), SALE),
    *((other, SALE) for other in OTHER_EVENTS),
    *((SALE, other) for other in OTHER_EVENTS),
]
"""Two events under one id: another session, paid where it was unpaid, one of ours where it was foreign, another
type, and what cannot be read and is about another session."""


@pytest.mark.parametrize(("first", "second"), CONFLICTS)
async def test_another_event_under_a_known_id(
    first: tuple[dict[str, Any], str], second: tuple[dict[str, Any], str], shop: Shop
) -> None:
    """What an event tells never changes: the first is kept, and the second opens nothing, whichever sells."""
    await shop.offered("cs_1", "cs_2")
    await shop.receive("evt_1", *first)
    access = await shop.entries("access:")
    assert await shop.receive("evt_1", *second) == "conflict"
    assert await shop.entries("access:") == access
    assert await shop.events.body("evt_1") == event_body("evt_1", *first)


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
    assert await shop.events.body("evt_1") == event_body("evt_1", bodies[granted])
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
