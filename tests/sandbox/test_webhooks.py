"""Webhooks: really posted, signed at each attempt, repeated with back-off until a 2xx."""

from itertools import pairwise
from pathlib import Path

import stripe

from orrery.sandbox.ground import Document
from tests.sandbox.conftest import SECRET, Running, receiving, running, until

COMPLETED = "checkout.session.completed"
HOUR = 3600


def completed(box: Running) -> Document:
    """Return the newest event of a completed session, as the API shows it."""
    return box.get(f"/v1/events?type={COMPLETED}&limit=1").json()["data"][0]


def arrivals(box: Running, session: Document) -> list[tuple[bytes, str]]:
    """Return the deliveries of a session's completion."""
    pairs = zip(box.receiver.arrived, box.receiver.events(), strict=True)
    return [
        one
        for one, event in pairs
        if event["type"] == COMPLETED and event["data"]["object"]["id"] == session["id"]
    ]


def signed_at(signature: str) -> int:
    """Return the time in a signature header."""
    return int(signature.partition("t=")[2].partition(",")[0])


def sell(box: Running) -> Document:
    """Create a session and pay it."""
    session = box.session()
    assert box.pay(session).status_code == 303
    return session


def test_repeated_until_accepted(box: Running) -> None:
    """An event is repeated, the same bytes signed with each attempt's own time, until a 2xx and not beyond."""
    box.receiver.statuses = [500] * 9
    session = sell(box)
    for attempt in range(1, 5):
        until(lambda: len(arrivals(box, session)) == attempt)  # noqa: B023 - called at once
        until(lambda: all(one["next_at"] > box.now() for one in box.deliveries("pending")))
        box.advance(HOUR)
    tries = arrivals(box, session)
    times = [signed_at(signature) for _, signature in tries]
    assert len({body for body, _ in tries}) == 1
    assert all(later - earlier >= HOUR for earlier, later in pairwise(times))
    for body, signature in tries:
        stripe.Webhook.construct_event(body, signature, SECRET, tolerance=24 * HOUR)
    until(lambda: not box.deliveries("pending"))
    box.advance(HOUR)
    assert len(arrivals(box, session)) == 4


def test_several_secrets(tmp_path: Path) -> None:
    """During a rotation the header has one signature a secret, and each of them is right."""
    with receiving() as receiver, running(tmp_path, receiver, secrets=("whsec_old", "whsec_new")) as box:
        sell(box)
        until(lambda: COMPLETED in receiver.types())
        body, signature = receiver.arrived[0]
        assert signature.count("v1=") == 2
        for secret in ("whsec_old", "whsec_new"):
            stripe.Webhook.construct_event(body, signature, secret)


def test_a_restart(tmp_path: Path) -> None:
    """What the sandbox knew and still had to deliver is there after a restart."""
    with receiving() as receiver:
        with running(tmp_path, receiver) as box:
            box.fault("webhook_down", count=None)
            session = sell(box)
            box.advance(5)
        assert receiver.arrived == []
        with running(tmp_path, receiver) as box:
            paid = box.get(f"/v1/checkout/sessions/{session['id']}").json()
            assert paid["payment_status"] == "paid"
            assert len(box.get("/v1/charges").json()["data"]) == 1
            box.advance(HOUR)
            until(lambda: COMPLETED in receiver.types())
            assert [event["id"] for event in receiver.events() if event["type"] == COMPLETED] == [
                completed(box)["id"]
            ]
