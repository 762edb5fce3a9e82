"""A visitor's key leads to a session that can be paid, and is what was asked for (decision 2)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.lookup import LEAST_LEFT
from orrery.checkout.errors import KeyReused, SessionMismatch
from orrery.checkout.selling.health import WRITTEN_EVERY
from orrery.checkout.selling.service import CreatedSession, Purchase
from orrery.errors import StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.processor import SessionStatus
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.checkout import OTHER, PRODUCT, Shop, metadata_of, session_json
from tests.support.clock import ManualClock
from tests.support.rehearsal import Rehearsal
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

CLICK = Purchase(PRODUCT.key, "203.0.113.7", "click-1")
LIFE = timedelta(hours=24).total_seconds()
NEAR = LIFE - LEAST_LEFT.total_seconds()
AWAY = ProcessorUnreachable("The processor cannot be reached.", same_key=True)


async def click(shop: Shop) -> CreatedSession:
    """Press the button."""
    return await shop.checkout.create(CLICK)


def at_the_processor(shop: Shop, status: SessionStatus) -> None:
    """Let the processor report the newest session so."""
    newest = list(shop.processor.created.values())[-1]
    shop.processor.add(replace(newest, status=status))


async def expired(shop: Shop) -> None:
    """Let it expire, or the owner end it at the dashboard; reconciliation notes it."""
    at_the_processor(shop, "expired")
    await shop.reconciliation.run()


async def payment_failed(shop: Shop) -> None:
    """Let its buyer complete it, and the payment fail later."""
    completed = session_json(payment_status="unpaid")
    await shop.receive("evt_1", completed)
    found = await shop.store.get("pending:cs_1")
    assert found is not None
    failed = found.value.replace(b'"failed_at":null', b'"failed_at":"2026-03-01T12:00:00Z"')
    assert failed != found.value
    await put(shop, found.key, failed)


async def put(shop: Shop, key: str, value: bytes) -> None:
    """Store a value."""
    await shop.store.commit([Put(key, value)])


async def revoked(shop: Shop) -> None:
    """Let its access be revoked, as after a refund."""
    await shop.receive("evt_1", session_json())
    await shop.desk.revoke("cs_1", "It was refunded.")


async def paid(shop: Shop) -> None:
    """Let it be paid, and the webhook come."""
    await shop.receive("evt_1", session_json())


async def outstanding(shop: Shop) -> None:
    """Let it be completed, and its payment be under way."""
    await shop.receive("evt_1", session_json(payment_status="unpaid"))


DEAD: dict[str, Callable[[Shop], Awaitable[None]]] = {
    "expired": expired,
    "payment failed": payment_failed,
    "revoked": revoked,
}
ALIVE: dict[str, Callable[[Shop], Awaitable[None]]] = {"paid": paid, "outstanding": outstanding}


@pytest.mark.parametrize("case", DEAD)
async def test_a_dead_session_is_replaced(case: str, shop: Shop) -> None:
    """The key makes a new session under a new processor key, and then leads to that one."""
    first = await click(shop)
    await DEAD[case](shop)
    second = await click(shop)
    assert second.id != first.id
    assert len({call.idempotency_key for call in shop.processor.calls}) == 2
    assert (await click(shop), shop.processor.asked_for) == (second, [])
    with pytest.raises(KeyReused):
        await shop.checkout.create(replace(CLICK, product=OTHER.key))


@pytest.mark.parametrize("case", ALIVE)
@pytest.mark.parametrize("later", [1, NEAR, LIFE - 1])
async def test_what_was_paid_is_not_sold_again_by_accident(case: str, later: float, shop: Shop) -> None:
    """The key of a completed session leads to it as long as the key is kept; another key buys again."""
    first = await click(shop)
    await ALIVE[case](shop)
    shop.clock.advance(later)
    assert (await click(shop), shop.processor.asked_for) == (first, [])
    assert (await shop.checkout.create(replace(CLICK, idempotency_key="click-2"))).id != first.id


async def test_a_usual_click_asks_for_nothing(shop: Shop) -> None:
    """Until half an hour before its end the processor is not asked about a session."""
    first = await click(shop)
    for seconds in (1, NEAR - 2):
        shop.clock.advance(seconds)
        assert (await click(shop), shop.processor.asked_for) == (first, [])


@pytest.mark.parametrize("later", [NEAR, LIFE - 1, LIFE, LIFE + 1800])
@pytest.mark.parametrize("status", ["open", "expired", "complete", None])
async def test_a_session_that_ends_soon(later: float, status: SessionStatus | None, shop: Shop) -> None:
    """The processor says whether it is over; while it cannot be asked, its time does."""
    hour = 3600  # so that the key outlives the session
    shop.processor.makes = {"expires_at": shop.clock.now() + timedelta(hours=23)}
    first = await click(shop)
    shop.processor.makes = {}
    shop.clock.advance(later - hour)
    if status:
        at_the_processor(shop, status)
    else:
        shop.processor.away = AWAY
    over = status == "expired" or (status is None and later >= LIFE)
    second = await click(shop)
    assert (second != first, shop.processor.asked_for) == (over, [first.id])
    assert not over or await click(shop) == second


async def test_an_attempt_of_an_older_release(shop: Shop) -> None:
    """Where the end of a session is not known, the processor is asked."""
    await click(shop)
    (entry,) = await shop.entries("attempt:")
    old = entry.value.partition(b',"expires_at"')[0] + b"}"
    assert old != entry.value
    await put(shop, entry.key, old)
    at_the_processor(shop, "expired")
    assert (await click(shop)).id == "cs_2"


async def test_a_session_that_was_made_and_never_shown() -> None:
    """Of an attempt whose end was lost, the processor repeats the old session: a day later another is made."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = Shop(clock, store)

    async def fail_the_second_commit() -> None:
        if store.commits == 2:
            raise StoreUnavailable("full")

    store.overtaken_by = fail_the_second_commit
    with pytest.raises(StoreUnavailable):
        await click(shop)
    clock.advance(LIFE - 60)
    second = await click(shop)
    assert second.id == "cs_2"
    clock.advance(120)
    assert await click(shop) == second


async def test_two_processes_and_one_dead_session() -> None:
    """Clicks that reach two processes at once replace it by one session."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = Shop(clock, store)
    other = Shop(clock, store, account=shop.processor)
    await click(shop)
    await expired(shop)
    first, second = await asyncio.gather(click(shop), click(other))
    assert (first, len(shop.processor.created)) == (second, 2)


async def test_a_session_that_the_owner_expires() -> None:
    """An approved expiry is known at once: the visitor's next click makes a new session."""
    rehearsal = Rehearsal(livemode=False)
    buy = replace(CLICK, product=PRODUCT.key)
    first = await rehearsal.checkout.create(buy)
    intent = await rehearsal.expiry.propose(first.id, "A test.", "owner")
    await rehearsal.sign(intent.id)
    assert rehearsal.till.open() == []
    assert (await rehearsal.checkout.create(buy)).id != first.id


async def test_nothing_personal_is_in_an_attempt(shop: Shop) -> None:
    """A visitor's key is stored as a digest: neither key nor address can be read from the store."""
    await click(shop)
    for entry in await shop.entries("attempt:"):
        assert b"203.0.113.7" not in entry.value
        assert b"click-1" not in entry.value
        assert "click-1" not in entry.key


async def test_the_next_click_after_a_session_of_something_else(shop: Shop) -> None:
    """It asks under another key: under the old one the processor would give the same session again."""
    shop.processor.makes = {"amount_total": 0}
    with pytest.raises(SessionMismatch):
        await click(shop)
    shop.processor.makes = {}
    assert (await click(shop)).id == "cs_2"
    assert len({call.idempotency_key for call in shop.processor.calls}) == 2


ONCE = Purchase(PRODUCT.key, "203.0.113.7")


async def outage(shop: Shop) -> Finding:
    """Return how session creation goes."""
    (found,) = await shop.creation_health.local()
    return found


@each_case(
    "wrong",
    [
        *({"url": url} for url in (None, "", "/relative", "javascript:alert(1)", "https://", "https://[")),
        {"url": "http://pay.example/1"},
        {"livemode": True},
        {"id": "cs_live_1"},
        {"id": "pi_1"},
        {"id": "cs_1/../2"},
        {"mode": "subscription"},
        {"mode": None},
        {"status": "complete"},
        {"status": "expired"},
        {"amount_total": 0},
        {"currency": None},
        {"metadata": metadata_of(OTHER)},
        {"price_ids": ("price_ccsp",)},
        {"payment_status": "no_payment_required"},
    ],
)
async def test_a_session_that_nobody_may_be_sent_to_is_an_outage(wrong: dict[str, Any], shop: Shop) -> None:
    """A session that is not what was asked for reaches no visitor; none is stored, and the first is an outage."""
    shop.processor.makes = wrong
    with pytest.raises(SessionMismatch):
        await shop.checkout.create(ONCE)
    found = await outage(shop)
    assert (found.state, found.severity, found.essential) == ("broken", 5, False)
    assert found.why.endswith(" No visitor was sent there.")
    shop.clock.advance(11 * 60)
    assert (await outage(shop)).state == "broken"  # no visitor came: that proves nothing
    for _ in range(2):
        with pytest.raises(SessionMismatch):
            await shop.checkout.create(ONCE)
        assert not (await outage(shop)).essential  # two clicks of one visitor take no other product off the air
        shop.clock.advance(WRITTEN_EVERY.total_seconds())
    shop.clock.advance(180)
    with pytest.raises(SessionMismatch):
        await shop.checkout.create(ONCE)
    assert (await outage(shop)).essential
    assert await shop.entries("offer") == []
    shop.clock.advance(700)
    assert (await outage(shop)).state == "ok"
