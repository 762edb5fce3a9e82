"""The state of a session for the success page, also after its payment failed (decision 48)."""

import asyncio
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from orrery.checkout.access.lookup import AT_ONCE, EVERY, MOST
from orrery.checkout.records import Offer, WithheldSession
from orrery.errors import NotConfigured, NotFound, OrreryError
from orrery.ports.processor import Charge
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from orrery.runtime.outbox import Notification
from tests.support.checkout import Shop, offer, session, session_json
from tests.support.clock import START
from tests.support.tables import each_case

YEAR = timedelta(days=365)
SECONDS = EVERY.total_seconds()


async def offered(*session_ids: str, **as_it_is: str) -> Shop:
    """Return a shop that offered these sessions, each of which is so at the processor."""
    shop = Shop()
    await shop.offered(*session_ids)
    shop.processor.add(*[session(one, **as_it_is) for one in session_ids])
    return shop


async def sold() -> Shop:
    """Return a shop that sold one session."""
    shop = await offered("cs_1")
    await shop.receive("evt_1", session_json())
    return shop


async def state(shop: Shop, session_id: str = "cs_1") -> str:
    """Return what the success page is told."""
    return (await shop.session_states.of(session_id)).state


@each_case(
    ("status", "payment", "told"),
    [
        ("open", "unpaid", "open"),
        ("complete", "paid", "pending"),
        ("complete", "unpaid", "pending"),
        ("complete", "no_payment_required", "pending"),
        ("expired", "unpaid", "failed"),
    ],
)
async def test_before_any_webhook_the_processor_knows(status: str, payment: str, told: str) -> None:
    """Of a session that was offered and no more, the processor is asked: is it open, completed or expired?"""
    shop = await offered("cs_1", status=status, payment_status=payment)
    found = await shop.session_states.of("cs_1")
    assert (found.state, found.expires_at) == (told, None)


@pytest.mark.parametrize(
    "away",
    [
        ProcessorUnreachable("No answer.", same_key=True),
        ProcessorRefused("No such session.", status=404),
        NotConfigured("No key."),
        TimeoutError(),
    ],
)
async def test_while_the_processor_cannot_be_asked(away: OrreryError) -> None:
    """Nothing is said that may be wrong: who has paid must not read that nothing was taken."""
    shop = await offered("cs_1", status="open")
    shop.processor.away = away
    assert await state(shop) == "pending"


async def test_a_completed_session_is_pending_and_nobody_is_asked() -> None:
    """What the webhook told as completed, and is not granted, is pending; reconciliation looks after it."""
    shop = await offered("cs_1", status="complete")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    assert await state(shop) == "pending"
    shop = Shop()
    await shop.receive("evt_1", session_json())
    assert await state(shop) == "pending"
    assert shop.processor.asked_for == []


async def test_what_is_known_to_have_failed(shop: Shop) -> None:
    """A session that is noted as failed is failed, without a question, and while the processor is away."""
    noted = WithheldSession(
        session_id="cs_2", state="waiting", reason="unpaid", event_id=None, noted_at=START, failed_at=START
    )
    expired = offer("cs_1", failed_at=START)
    await shop.store.commit([Put("offer:cs_1", expired.to_bytes()), Put("pending:cs_2", noted.to_bytes())])
    assert [await state(shop, one) for one in ("cs_1", "cs_2")] == ["failed", "failed"]
    assert shop.processor.asked_for == []


async def test_a_page_asks_once_in_ten_seconds() -> None:
    """However often a page asks, the processor is asked once per session and 10 s."""
    shop = await offered("cs_1", "cs_2", status="open")
    for _ in range(5):
        assert [await state(shop, one) for one in ("cs_1", "cs_2")] == ["open", "open"]
    assert shop.processor.asked_for == ["cs_1", "cs_2"]
    shop.clock.advance(SECONDS - 1)
    await state(shop)
    assert shop.processor.asked_for == ["cs_1", "cs_2"]
    shop.clock.advance(1)
    shop.processor.add(session("cs_1", status="expired"))
    assert await state(shop) == "failed"
    assert shop.processor.asked_for == ["cs_1", "cs_2", "cs_1"]


async def test_who_asks_meanwhile_asks_nobody_again() -> None:
    """Two pages of one session at the same time are one question."""
    shop = await offered("cs_1", status="open")
    shop.processor.answering = asyncio.Event()
    first = asyncio.create_task(state(shop))
    await until_asked(shop, 1)
    assert await state(shop) == "pending"
    shop.processor.answering.set()
    assert await first == "open"
    assert await state(shop) == "open"
    assert shop.processor.asked_for == ["cs_1"]


async def test_many_pages_leave_the_processor_to_those_who_buy() -> None:
    """Of many sessions at once only a few are asked about at a time; the others are pending meanwhile."""
    names = [f"cs_{number}" for number in range(AT_ONCE + 3)]
    shop = await offered(*names, status="open")
    shop.processor.answering = asyncio.Event()
    pages = [asyncio.create_task(state(shop, one)) for one in names]
    await until_asked(shop, AT_ONCE)
    assert [await page for page in pages[AT_ONCE:]] == ["pending"] * 3
    shop.processor.answering.set()
    assert [await page for page in pages[:AT_ONCE]] == ["open"] * AT_ONCE
    assert len(shop.processor.asked_for) == AT_ONCE


async def until_asked(shop: Shop, count: int) -> None:
    """Let others go on until so many questions are under way."""
    while len(shop.processor.asked_for) < count:
        await checkpoint()


async def test_what_is_remembered_is_bounded() -> None:
    """So many sessions are remembered for 10 s; of more the processor is not asked until these are forgotten."""
    names = [f"cs_{number}" for number in range(MOST + 1)]
    shop = await offered(*names, status="open")
    assert [await state(shop, one) for one in names] == ["open"] * MOST + ["pending"]
    shop.clock.advance(SECONDS)
    assert await state(shop, names[-1]) == "open"


@each_case("unknown", ["cs_9", "", "x" * 400, "../x", "cs_1\x00", "é"])
async def test_an_unknown_session(unknown: str) -> None:
    """A session that we never created is not found, and a guess costs nothing at the processor."""
    shop = await sold()
    with pytest.raises(NotFound):
        await shop.session_states.of(unknown)
    assert shop.processor.asked_for == []


async def test_a_granted_session_and_its_end() -> None:
    """It says until when, and neither who bought nor what; from the moment of its end on it is ended."""
    shop = await sold()
    told = asdict(await shop.session_states.of("cs_1"))
    assert told == {"state": "granted", "expires_at": START + YEAR}
    shop.clock.advance(YEAR.total_seconds() - 1)
    assert await state(shop) == "granted"
    shop.clock.advance(1)
    assert await state(shop) == "ended"


async def test_expired_sessions_are_noted() -> None:
    """Reconciliation notes with its offer that a session expired: then the processor is not needed to know it."""
    shop = await offered("cs_1", status="expired", payment_status="unpaid")
    await shop.offered("cs_2")
    shop.processor.add(session("cs_foreign", status="expired", metadata={}))
    await shop.reconciliation.run(dry_run=True)
    before = await shop.entries("offer:")
    assert [Offer.model_validate_json(one.value).failed_at for one in before] == [None, None]
    await shop.reconciliation.run()
    shop.processor.sessions.clear()
    assert await state(shop) == "failed"
    noted = {one.key: one for one in await shop.entries("offer:")}
    assert noted.keys() == {"offer:cs_1", "offer:cs_2"}
    assert Offer.model_validate_json(noted["offer:cs_1"].value) == offer("cs_1", failed_at=START)
    await shop.reconciliation.run()
    assert [one.version for one in await shop.entries("offer:")] == [one.version for one in noted.values()]


async def test_how_far_back_expired_sessions_are_looked_for(shop: Shop) -> None:
    """A session that expired since the last reconciliation was created at most a day before it."""
    await shop.reconciliation.run()
    shop.clock.advance(3 * 86_400)
    await shop.reconciliation.run()
    await shop.reconciliation.run(timedelta(hours=1))
    first, second, third = shop.processor.expired_since
    assert first <= START - timedelta(days=30)
    assert START - timedelta(hours=26) < second <= START - timedelta(hours=24)
    assert second < third <= shop.clock.now() - timedelta(hours=24)


async def test_an_expired_session_that_cannot_be_read_hides_no_other() -> None:
    """The others are noted, and it is told like everything of the processor's that cannot be read."""
    shop = await offered("cs_1", status="expired", payment_status="unpaid")
    shop.processor.unreadable.append(ItemUnreadable("expired session", "cs_2", ("created",)))
    report = await shop.reconciliation.run()
    assert [one.id for one in report.unread] == ["cs_2"]
    (entry,) = await shop.entries("offer:")
    assert Offer.model_validate_json(entry.value).failed_at == START


DAYS = 86_400
PRICES = ("price_cissp",)
UNPAID: dict[str, Any] = {"payment_status": "unpaid", "price_ids": PRICES}


def charge(name: str, status: str) -> Charge:
    """Return a charge of the session's payment."""
    return Charge(name, START, "pi_cs_1", 4900, 0, "usd", paid=False, disputed=False, status=status)


async def completed(*charges: Charge) -> Shop:
    """Return a shop with one session that was completed unpaid, with these charges, the newest first."""
    shop = Shop()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(payment_status="unpaid"))
    shop.processor.add(session(**UNPAID))
    shop.processor.charges += charges
    return shop


async def failed(*charges: Charge) -> Shop:
    """Return the same after a reconciliation."""
    shop = await completed(*charges)
    await shop.reconciliation.run()
    return shop


async def pushes(shop: Shop) -> list[Notification]:
    """Return what the owner was told of payments that failed."""
    return [row for row in await shop.told() if row.id.startswith("payment-failed-")]


async def noted(shop: Shop) -> WithheldSession:
    """Return what is noted about the session."""
    (entry,) = await shop.entries("pending:")
    return WithheldSession.model_validate_json(entry.value)


async def test_a_payment_that_failed_is_told_once() -> None:
    """The success page says failed, and the owner is told once, in a low voice; a dry run only lists it."""
    shop = await completed(charge("ch_1", "failed"))
    before = await shop.entries()
    assert (await shop.reconciliation.run(dry_run=True)).payment_failed == ["cs_1"]
    assert await shop.entries() == before
    report = await shop.reconciliation.run()
    assert (report.payment_failed, report.unpaid) == (["cs_1"], [])
    (push,) = await pushes(shop)
    assert (push.channel, push.priority) == ("push", "low")
    assert "isc2/cissp" in push.body
    assert "failed" in push.body


async def test_what_is_decided_is_not_asked_again() -> None:
    """Later ones ask for nothing of it, and tell nobody again; it stays failed as long as its offer is kept."""
    shop = await failed(charge("ch_1", "failed"))
    asked = ["pi_cs_1"]
    for days in (1, 40, 358):
        shop.clock.advance(days * DAYS)
        assert await state(shop) == "failed"
        await shop.reconciliation.run()
        assert (shop.processor.payments_asked_for, shop.processor.asked_for) == (asked, [])
    assert len(await pushes(shop)) == 1
    assert (await noted(shop)).failed_at == START


@pytest.mark.parametrize(
    "charges", [[charge("ch_2", "pending"), charge("ch_1", "failed")], [charge("ch_1", "pending")], []]
)
async def test_a_payment_that_may_still_come(charges: list[Charge]) -> None:
    """The newest charge decides: a declined card before a payment that is under way is no failure."""
    shop = await completed(*charges)
    report = await shop.reconciliation.run()
    assert (report.payment_failed, report.unpaid) == ([], ["cs_1"])
    assert (await shop.session_states.of("cs_1")).state == "pending"
    assert await pushes(shop) == []


async def test_a_charge_that_cannot_be_read_decides_nothing() -> None:
    """When the newest charge cannot be read, the payment counts as outstanding still."""
    shop = await completed(charge("ch_1", "failed"))
    shop.processor.unreadable.append(ItemUnreadable("charge", "ch_2", ("status",)))
    assert (await shop.reconciliation.run()).unpaid == ["cs_1"]


async def test_paid_after_all() -> None:
    """A payment that comes after it had failed opens the access like any other."""
    shop = await failed(charge("ch_1", "failed"))
    shop.processor.add(session(price_ids=PRICES))
    assert (await shop.reconciliation.run()).granted == ["cs_1"]
    assert (await shop.session_states.of("cs_1")).state == "granted"


async def test_a_session_of_another_program(shop: Shop) -> None:
    """A foreign session that is unpaid is no payment of ours, and its charges are not asked for."""
    shop.processor.add(session(**UNPAID, metadata={}))
    assert (await shop.reconciliation.run()).payment_failed == []
    assert shop.processor.payments_asked_for == []
