"""From the shop to access, and what may go wrong with the webhook on the way (spec 1; decisions 7 to 13)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from tests.support.deployment import Deployment, running
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import PATIENCE, eventually
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


def test_fifty_events_of_one_session_at_once(shop: Deployment, visitor: Visitor) -> None:
    """Fifty different events of one session at the same time: all are stored, and one grants."""
    shop.sandbox.fault("webhook_down", count=None)
    session = visitor.buy()
    event = shop.sandbox.completed(session)
    events = [event | {"id": f"evt_copy{number}_{session[-8:]}"} for number in range(50)]
    answers = sent_at_once(shop, events)
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["received"] for answer in answers) == ["already"] * 49 + ["granted"]
    assert {f"event:{one['id']}" for one in events} <= shop.records.keys("event:evt_copy")
    visitor.await_told(session)
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)


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


def test_a_session_that_nobody_pays_is_open_and_then_failed(tmp_path: Path) -> None:
    """Until it expires the session is open; reconciliation learns that it expired, and needs nobody to know it."""
    with running(Deployment(tmp_path, plain=1)) as shop:
        visitor = Visitor(shop)
        session = visitor.start()
        assert visitor.state(session) == "open"
        shop.sandbox.advance(DAY)
        assert visitor.state(session) == "failed"
        shop.sandbox.advance(QUARTER)
        eventually(lambda: see_noted(shop))
        shop.sandbox.fault("server_error", count=None)
        shop.sandbox.advance(QUARTER)
        assert visitor.state(session) == "failed"


def see_noted(shop: Deployment) -> None:
    """See that the only offer is noted as failed."""
    assert all(offer["failed_at"] for offer in shop.records.objects("offer:"))


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


def test_price_changed_between_session_and_payment(shop: Deployment) -> None:
    """Anyone who pays what was offered has access, whatever the price is by then."""
    shop.sandbox.price("price_changing", unit_amount=4900, currency="usd")
    visitor = Visitor(shop, "changing")
    session = visitor.start()
    shop.sandbox.price("price_changing", unit_amount=9900)
    visitor.pay(session)
    visitor.await_access(session)
    visitor.await_told(session)
    record = shop.records.access(session)
    assert record
    assert record["amount_total"] == 4900


def test_duplicated_and_reordered_webhooks(shop: Deployment, visitor: Visitor) -> None:
    """Webhooks that come twice and in another order grant once."""
    shop.sandbox.fault("webhook_duplicate", count=4)
    shop.sandbox.fault("webhook_reorder", count=1, path="charge.succeeded")
    session = visitor.buy()
    shop.sandbox.advance(60)
    visitor.await_access(session)
    visitor.await_told(session)
    eventually(lambda: expect_equal(shop.sandbox.completed(session)["pending_webhooks"], 0))
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)


def test_another_price_than_offered_is_not_granted(shop: Deployment, visitor: Visitor) -> None:
    """A completed session whose product is not the one offered opens nothing, and the owner is told."""
    shop.sandbox.fault("webhook_down", count=None)
    session = visitor.buy()
    event = shop.sandbox.completed(session)
    event["data"]["object"]["metadata"]["certCode"] = "wordy"
    answer = send(shop, *signed(shop, event | {"id": f"evt_other_{session[-8:]}"}))
    assert (answer.status_code, answer.json()) == (200, {"received": "refused"})
    assert shop.records.access(session) is None
    eventually(lambda: expect_equal(len(shop.sandbox.pushes_about("another product")), 1))


def test_foreign_sessions_raise_no_alarm(shop: Deployment) -> None:
    """A completed session that is not ours is acknowledged and stored, and nobody is told."""
    pushes = len(shop.sandbox.ask("GET", "/push"))
    session = foreign_session(shop)
    shop.sandbox.pay(session, "somebody@else.example.test")
    eventually(lambda: expect_equal(shop.sandbox.completed(session)["pending_webhooks"], 0))
    assert shop.records.access(session) is None
    assert len(shop.sandbox.ask("GET", "/push")) == pushes


def foreign_session(shop: Deployment) -> str:
    """Create a session at the processor as another program of the owner does: without our metadata."""
    form = {
        "mode": "payment",
        "line_items[0][price]": "price_cloud_navigator",
        "line_items[0][quantity]": "1",
        "success_url": "https://other.example.test/",
    }
    headers = {"Authorization": f"Bearer {shop.sandbox.api_key}"}
    address = f"{shop.sandbox.base_url}/v1/checkout/sessions"
    return str(httpx2.post(address, data=form, headers=headers, trust_env=False, timeout=PATIENCE).json()["id"])
