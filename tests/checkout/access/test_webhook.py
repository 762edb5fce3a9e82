"""Events come in: checked, stored, and acted upon once (decisions 7, 9 and 10)."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import Invalid, NotConfigured, OutcomeUnknown, StoreError, StoreUnavailable
from orrery.ports.store import Delete, Put
from tests.support.checkout import (
    BUYER,
    OTHER,
    Shop,
    event_body,
    ids,
    metadata_of,
    record,
    session,
    session_json,
    signed,
)
from tests.support.clock import START, ManualClock
from tests.support.hasty_loop import run_without_pauses
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore


def unreliable() -> tuple[Shop, UnreliableStore]:
    """Return a shop over a store that lets every task have its turn."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    return Shop(clock, store), store


async def test_a_paid_session_opens_access(shop: Shop) -> None:
    """A completed session becomes a record, its raw event is kept, and owner and buyer are told."""
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json()) == "granted"
    assert await shop.access() == record(event_id="evt_1", title="CISSP", paid_at=START)
    assert sorted(ids(await shop.told())) == ["buyer-cs_1", "owner-cs_1"]
    event = await shop.store.get("event:evt_1")
    assert event is not None
    assert event.value == event_body("evt_1", session_json())
    assert event.expires_at == shop.clock.now() + timedelta(days=400)


async def test_the_same_event_twice(shop: Shop) -> None:
    """A duplicate is acknowledged and changes nothing."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    before = await shop.entries()
    shop.clock.advance(100)
    assert await shop.receive("evt_1", session_json()) == "already"
    assert await shop.entries() == before


async def test_the_same_event_fifty_times_at_once() -> None:
    """Of 50 deliveries at the same moment one grants, and there is one of each notification."""
    shop, _ = unreliable()
    await shop.offered("cs_1")
    results = await asyncio.gather(*(shop.receive("evt_1", session_json()) for _ in range(50)))
    assert sorted(set(results)) == ["already", "granted"]
    assert results.count("granted") == 1
    assert sorted(ids(await shop.told())) == ["buyer-cs_1", "owner-cs_1"]
    assert len(await shop.entries("access:")) == len(await shop.entries("access-by-time:")) == 1


@pytest.mark.parametrize("payment", ["paid", "unpaid"])
async def test_two_events_of_one_session(payment: str, shop: Shop) -> None:
    """A second event of a session that has access is kept, whatever it says, and changes nothing."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    assert await shop.receive("evt_2", session_json(payment_status=payment)) == "already"
    assert [entry.key for entry in await shop.entries("event:")] == ["event:evt_1", "event:evt_2"]
    assert await shop.access() == record(event_id="evt_1", title="CISSP", paid_at=START)
    assert await shop.entries("pending:") == []
    assert sorted(ids(await shop.told())) == ["buyer-cs_1", "owner-cs_1"]


async def test_two_events_of_one_session_at_once() -> None:
    """Two events of a session at the same moment grant once and are both kept."""
    shop, _ = unreliable()
    await shop.offered("cs_1")
    results = await asyncio.gather(*(shop.receive(f"evt_{n}", session_json()) for n in range(8)))
    assert (results.count("granted"), results.count("already")) == (1, 7)
    assert len(await shop.entries("event:")) == 8
    assert len(await shop.told()) == 2


@pytest.mark.parametrize("count", [2, 10])
async def test_purchases_of_one_buyer_at_once(count: int) -> None:
    """However many sessions of a buyer for one product come together, each is granted, and each adds its year."""
    shop, _ = unreliable()
    names = [f"cs_{number}" for number in range(count)]
    await shop.offered(*names)
    await asyncio.gather(*(shop.receive(f"evt_{name}", session_json(name)) for name in names))
    ends = sorted([(await shop.access(name)).expires_at.year for name in names])
    assert ends == list(range(2027, 2027 + count))


async def test_two_buyers_extend_nothing_of_each_other(shop: Shop) -> None:
    """Purchases of two buyers, or of two products, both run from now."""
    await shop.offered("cs_1", "cs_2")
    await shop.offered("cs_3", cert_code="ccsp", price_id="price_ccsp")
    await shop.receive("evt_1", session_json("cs_1"))
    await shop.receive("evt_2", session_json("cs_2", customer_details={"email": "bob@example.org"}))
    await shop.receive("evt_3", session_json("cs_3", metadata=metadata_of(OTHER)))
    assert {(await shop.access(f"cs_{n}")).expires_at.year for n in (1, 2, 3)} == {2027}


async def test_the_same_buyer_in_capitals(shop: Shop) -> None:
    """An address is the same buyer's however it is written."""
    await shop.offered("cs_1", "cs_2")
    await shop.receive("evt_1", session_json("cs_1"))
    await shop.receive("evt_2", session_json("cs_2", customer_details={"email": f" {BUYER.upper()}"}))
    assert (await shop.access("cs_2")).expires_at.year == 2028


async def test_a_session_without_an_address(shop: Shop) -> None:
    """A sale without an e-mail address is granted, and only the owner can be told."""
    await shop.offered("cs_1", "cs_2")
    for number in (1, 2):
        completed = session_json(f"cs_{number}", customer_details=None)
        assert await shop.receive(f"evt_{number}", completed) == "granted"
    assert ids(await shop.told()) == ["owner-cs_1", "owner-cs_2"]
    assert (await shop.access("cs_2")).expires_at.year == 2027


async def test_paid_in_the_end(shop: Shop) -> None:
    """A session that waited is granted by a later event, and waits no longer."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    assert await shop.receive("evt_2", session_json()) == "granted"
    assert await shop.entries("pending:") == []
    assert (await shop.access()).event_id == "evt_2"


WITHHELD: list[tuple[dict[str, Any], str, str]] = [
    ({"payment_status": "unpaid"}, "waiting", "unpaid"),
    ({"livemode": True}, "refused", "other livemode"),
    (
        {"metadata": {"productType": "cert", "certCode": "ccsp", "vendorSlug": "isc2"}},
        "refused",
        "another product",
    ),
]


@pytest.mark.parametrize(("changed", "result", "reason"), WITHHELD)
async def test_what_opens_no_access(changed: dict[str, Any], result: str, reason: str, shop: Shop) -> None:
    """What is unpaid waits, and is told once; another product or livemode is refused, and a problem at once."""
    _ = await shop.reconciliation.run()
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json(**changed)) == result
    assert await shop.receive("evt_2", session_json(**changed)) == result
    assert await shop.entries("access:") == []
    assert len(await shop.entries("event:")) == 2
    refused = [one.why for one in await shop.reconciliation.findings() if one.state == "broken"]
    told = [row.body for row in await shop.told()]
    assert (len(refused), len(told)) == ((1, 0) if result == "refused" else (0, 1))
    assert reason in (refused or told)[0]


async def test_refused_before_the_first_reconciliation(shop: Shop) -> None:
    """Until there is a list of what does not agree, a push tells of it, once."""
    await shop.offered("cs_1")
    for event in ("evt_1", "evt_2"):
        assert await shop.receive(event, session_json(livemode=True)) == "refused"
    assert (await shop.reconciliation.findings(), len(await shop.told())) == ([], 1)


@each_case("ours", [True, False])
@each_case(("of_event", "of_session"), [(True, True), (True, False), (False, True), (False, False)])
async def test_the_modes_of_event_session_and_service_agree(
    *, of_event: bool, of_session: bool, ours: bool
) -> None:
    """An event is stored, and opens access only where its mode, its session's and the service's are one."""
    shop = Shop(livemode=ours)
    _ = await shop.reconciliation.run()
    await shop.offered("cs_1")
    result = await shop.receive("evt_1", session_json(livemode=of_session), livemode=of_event)
    agree = of_event == of_session == ours
    assert (result, len(await shop.entries("access:"))) == (("granted", 1) if agree else ("refused", 0))
    assert len(await shop.entries("event:")) == 1
    if not agree:
        why = "other livemode" if of_session != ours else "event of other livemode"
        assert [f"({why})" in one.why for one in await shop.reconciliation.findings()] == [True]


async def test_a_sale_whose_event_was_of_another_mode(shop: Shop) -> None:
    """Reconciliation reads the session with our own key, and opens the access that the event did not."""
    await shop.offered("cs_1")
    shop.processor.add(session(price_ids=("price_cissp",)))
    assert await shop.receive("evt_1", session_json(), livemode=True) == "refused"
    assert (await shop.reconciliation.run()).granted == ["cs_1"]
    assert await shop.entries("pending:") == []


async def test_events_at_once_are_told_once() -> None:
    """Two events of a session that waits do not tell the owner twice, however soon the first is delivered."""
    shop, store = unreliable()
    await shop.offered("cs_1")

    delivered: list[str] = []

    async def deliver() -> None:
        for row in await shop.told():
            delivered.append(row.id)
            await store.inside.commit([Delete(f"outbox:{row.id}")])

    store.overtaken_by = deliver
    await asyncio.gather(*(shop.receive(f"evt_{n}", session_json(payment_status="unpaid")) for n in (1, 2)))
    await deliver()
    assert delivered == ["withheld-cs_1-unpaid"]
    assert len(await shop.entries("event:")) == 2


async def test_granted_while_being_withheld() -> None:
    """A session that is granted while an unpaid event of it is noted keeps no note that it waits."""
    shop, store = unreliable()
    await shop.offered("cs_1")
    paid = Shop(shop.clock, store.inside)

    async def grant() -> None:
        store.overtaken_by = None
        await paid.receive("evt_2", session_json())

    store.overtaken_by = grant
    assert await shop.receive("evt_1", session_json(payment_status="unpaid")) == "already"
    assert await shop.entries("pending:") == []
    assert len(await shop.entries("event:")) == 2


async def test_an_event_that_comes_again_when_it_can_be_granted(shop: Shop) -> None:
    """An event that waited for its offer is granted when it is delivered again and the offer is there."""
    assert await shop.receive("evt_1", session_json()) == "waiting"
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json()) == "granted"
    assert await shop.entries("pending:") == []


async def test_another_amount_is_granted_and_told(shop: Shop) -> None:
    """A price that changed between session and payment is granted; the owner reads the difference."""
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json(amount_total=5900, currency="nzd")) == "granted"
    (push,) = [row for row in await shop.told() if row.channel == "push"]
    assert "5900; 4900 was offered" in push.body
    assert "nzd; usd was offered" in push.body
    assert push.priority == "high"


async def test_a_foreign_session(shop: Shop) -> None:
    """A session without our metadata is stored, answered and told to nobody."""
    assert await shop.receive("evt_1", session_json(metadata={"order": "7"})) == "foreign"
    assert [entry.key for entry in await shop.entries()] == ["event:evt_1"]
    assert await shop.receive("evt_1", session_json(metadata={"order": "7"})) == "foreign"
    assert [entry.key for entry in await shop.entries()] == ["event:evt_1"]


@pytest.mark.parametrize(
    "kind",
    [
        "customer.subscription.created",
        "charge.dispute.created",
        "checkout.session.expired",
        "checkout.session.async_payment_succeeded",
    ],
)
async def test_other_events_are_stored_and_ignored(kind: str, shop: Shop) -> None:
    """The switch has one case: a paid session under another event's name opens nothing (change rule 5)."""
    await shop.offered("cs_1")
    assert await shop.receive("evt_1", session_json(), kind) == "ignored"
    assert await shop.receive("evt_1", session_json(), kind) == "duplicate"
    subscription = {"id": "sub_1", "object": "subscription"}
    assert await shop.receive("evt_2", subscription, "customer.subscription.created") == "ignored"
    assert {entry.key for entry in await shop.entries()} == {"event:evt_1", "event:evt_2", "offer:cs_1"}


@pytest.mark.parametrize("signature", ["", "t=1,v1=" + "0" * 64, "t=1772366400,v1=" + "0" * 64, "é", "v0=1"])
async def test_a_wrong_signature(signature: str, shop: Shop) -> None:
    """An event that nobody signed is refused before it is read, and nothing is stored."""
    await shop.offered("cs_1")
    before = await shop.entries()
    with pytest.raises(Invalid):
        await shop.webhook.receive(event_body("evt_1", session_json()), signature)
    assert await shop.entries() == before


async def test_without_a_secret_nothing_is_checked() -> None:
    """No signing secret means not configured, even for what an empty key signed."""
    shop = Shop(secrets=())
    body = event_body("evt_1", session_json())
    with pytest.raises(NotConfigured):
        await shop.webhook.receive(body, signed(body, shop.clock.now(), b""))
    assert await shop.entries() == []


async def test_either_secret_of_a_rotation() -> None:
    """While two secrets are configured, events signed with either are taken."""
    shop = Shop(secrets=(b"whsec_old", b"whsec_new"))
    for number, secret in enumerate(shop.secrets):
        body = event_body(f"evt_{number}", session_json(metadata={}))
        assert await shop.webhook.receive(body, signed(body, shop.clock.now(), secret)) == "foreign"


@pytest.mark.parametrize("errors", [[StoreUnavailable("full")], [OutcomeUnknown("lost", "id")] * 99])
def test_a_store_that_fails_is_told_upwards(errors: list[StoreError]) -> None:
    """A failing commit reaches the caller, nothing is half written, and the event's repeat grants."""
    shop, store = unreliable()

    async def receive() -> None:
        await shop.offered("cs_1")
        before = await shop.entries()
        store.commit_errors = [*errors]
        with pytest.raises(type(errors[0])):
            await shop.receive("evt_1", session_json())
        store.commit_errors.clear()
        assert await shop.entries() == before
        assert await shop.receive("evt_1", session_json()) == "granted"

    run_without_pauses(receive())


async def test_a_lost_answer_is_asked_for_once_more() -> None:
    """When the store's answer is lost, it is asked once more, and the processor need not send the event again."""
    shop, store = unreliable()
    await shop.offered("cs_1")
    store.commit_errors = [OutcomeUnknown("lost", "id")]
    assert await shop.receive("evt_1", session_json()) == "granted"
    assert ids(await shop.told()) == ["buyer-cs_1", "owner-cs_1"]


async def test_a_store_that_cannot_be_read() -> None:
    """A failing read reaches the caller too."""
    shop, store = unreliable()
    store.get_errors = [StoreUnavailable("locked")]
    with pytest.raises(StoreUnavailable):
        await shop.receive("evt_1", session_json())
    assert await shop.entries() == []


async def test_a_sale_is_one_commit() -> None:
    """Event, access, indexes and notifications are stored together or not at all."""
    shop, store = unreliable()
    await shop.offered("cs_1")
    store.commits = 0
    await shop.receive("evt_1", session_json())
    assert store.commits == 1
    versions = {entry.version for entry in await shop.entries() if entry.key != "offer:cs_1"}
    assert len(versions) == 1


async def test_an_endless_storm_of_conflicts() -> None:
    """When others change the buyer's end of access before each commit, the event is refused to come again."""
    shop, store = unreliable()
    await shop.offered("cs_1")
    first = session_json("cs_0")
    await shop.offered("cs_0")
    await shop.receive("evt_0", first)
    (end,) = await shop.entries("access-end:")

    async def touch() -> None:
        await store.inside.commit([Put(end.key, end.value)])

    store.overtaken_by = touch
    store.commits = 0
    with pytest.raises(StoreUnavailable, match="too busy"):
        await shop.receive("evt_1", session_json())
    assert 2 < store.commits < 100
    store.overtaken_by = None
    assert await shop.receive("evt_1", session_json()) == "granted"


async def test_the_event_keeps_its_raw_bytes(shop: Shop) -> None:
    """What is stored of an event is the body as it came, not as we read it."""
    body = json.dumps(json.loads(event_body("evt_1", session_json(metadata={}))), indent=3).encode() + b"\n"
    await shop.webhook.receive(body, signed(body, shop.clock.now()))
    (event,) = await shop.entries("event:")
    assert event.value == body
