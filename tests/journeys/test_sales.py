"""From the shop to access, and what may go wrong with the webhook on the way (spec 1; decisions 7 to 13)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any

import httpx2

from tests.support.deployment import Deployment
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually
from tests.support.webhooks import send, signed

QUARTER, TWO_HOURS, DAY = 15 * 60, 2 * 3600, 24 * 3600


def test_a_paid_session_opens_one_year_of_access(shop: Deployment, visitor: Visitor) -> None:
    """Anyone who pays has access for one year, at the practice site, too, and each side is told once."""
    session = visitor.buy()
    visitor.await_access(session)
    visitor.await_told(session)
    record = shop.records.access(session)
    assert record
    start, end = (datetime.fromisoformat(record[name]) for name in ("granted_at", "expires_at"))
    assert (end.year - start.year, end.timetuple()[1:5]) == (1, start.timetuple()[1:5])
    assert (record["granted_by"], record["amount_total"], record["currency"]) == ("webhook", 4900, "usd")
    assert practice_is_open(visitor)
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)


def practice_is_open(visitor: Visitor) -> bool:
    """Ask as the practice site does."""
    answer = visitor.shop.client.post(
        f"{visitor.shop.public}/guided/api/access/check",
        json={"email": visitor.email.upper(), "certCode": visitor.product},
        headers={"Authorization": f"Bearer {visitor.shop.secrets['access_service_token']}"},
    )
    assert answer.status_code == 200
    return bool(answer.json()["granted"])


def test_the_same_event_fifty_times_at_once(shop: Deployment, visitor: Visitor) -> None:
    """Fifty deliveries of one event at the same time: all 2xx, one grant, one of each notification."""
    shop.sandbox.fault("webhook_down", count=None)
    session = visitor.buy()
    event = shop.sandbox.completed(session)
    answers = sent_at_once(shop, [event] * 50)
    assert [answer.status_code for answer in answers] == [200] * 50
    assert [answer.json()["received"] for answer in answers].count("granted") == 1
    visitor.await_told(session)
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)
    assert len(shop.records.keys(f"access:{session}")) == 1


def sent_at_once(shop: Deployment, events: list[dict[str, Any]]) -> list[httpx2.Response]:
    """Send each event by a thread of its own; return the answers."""
    webhooks = [signed(shop, event) for event in events]
    with ThreadPoolExecutor(len(webhooks)) as pool:
        return list(pool.map(partial(send, shop), *zip(*webhooks, strict=True)))


def test_unpaid_is_pending_until_paid(shop: Deployment, visitor: Visitor) -> None:
    """Completed but unpaid opens nothing and tells the owner; once paid, reconciliation grants, once."""
    session = visitor.start()
    visitor.pay(session, "delayed")
    reference = shop.reference(session)
    eventually(lambda: expect_equal(len(shop.sandbox.pushes_about(reference)), 1))
    assert "unpaid" in shop.sandbox.pushes_about(reference)[0]["message"]
    assert visitor.state(session) == "pending"
    assert not practice_is_open(visitor)
    shop.sandbox.settle(session)
    shop.sandbox.advance(QUARTER)
    visitor.await_access(session)
    visitor.await_told(session)
    assert granted_by(shop, session) == "reconcile"
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)
    assert len(shop.sandbox.pushes_about(reference)) == 1


def test_a_payment_that_fails_later_is_failed(shop: Deployment, visitor: Visitor) -> None:
    """Reconciliation learns that an outstanding payment failed; the buyer may try again, and the owner is told."""
    session = visitor.start()
    visitor.pay(session, "delayed")
    eventually(lambda: expect_equal(visitor.state(session), "pending"))
    shop.sandbox.settle(session, paid=False)
    shop.sandbox.advance(QUARTER)
    eventually(lambda: expect_equal(visitor.state(session), "failed"))
    failed = eventually(lambda: one_of(shop.sandbox.pushes_about(f"{visitor.product}, session")))
    assert ("failed" in failed["message"], failed["priority"]) == (True, 2)
    assert session not in failed["message"]
    assert (visitor.emails(), visitor.pushes()) == ([], [])


def one_of(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the only one; fail, for now, unless there is exactly one."""
    assert len(found) == 1
    return found[0]


def granted_by(shop: Deployment, session: str) -> str:
    """Return who opened the access of a session."""
    record = shop.records.access(session)
    assert record
    return str(record["granted_by"])


def test_webhook_endpoint_down_for_two_hours(shop: Deployment, visitor: Visitor) -> None:
    """Reconciliation grants what no webhook told; the webhook that comes two hours late changes nothing."""
    shop.sandbox.fault("webhook_down", count=None)
    session = visitor.buy()
    shop.sandbox.advance(QUARTER)
    visitor.await_access(session)
    visitor.await_told(session)
    before = shop.records.access(session)
    assert before
    assert before["granted_by"] == "reconcile"
    shop.sandbox.advance(TWO_HOURS - QUARTER)
    shop.sandbox.clear_faults()
    event = late_webhook_of(shop, session)
    assert f"event:{event}" in shop.records.keys("event:")
    assert shop.records.access(session) == before
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)


def late_webhook_of(shop: Deployment, session: str) -> str:
    """Let time pass until the sandbox has delivered the event after all; return its id."""

    def delivered() -> str:
        event = shop.sandbox.completed(session)
        if event["pending_webhooks"]:
            shop.sandbox.advance(1800)
        assert event["pending_webhooks"] == 0
        return str(event["id"])

    return eventually(delivered)
