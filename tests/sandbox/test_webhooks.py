"""Webhooks: really posted, signed at each attempt, repeated with back-off until a 2xx."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import stripe

from orrery.sandbox.ground import Document
from tests.sandbox.conftest import SECRET, Running, receiving, running, until
from tests.support.certificates import make_authority

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


@pytest.fixture
def only_completed(box: Running) -> Iterator[Running]:
    """The module's sandbox, whose endpoint asks for completed sessions only."""
    path = f"/v1/webhook_endpoints/{box.get('/v1/webhook_endpoints').json()['data'][0]['id']}"
    box.post(path, {"enabled_events[0]": COMPLETED})
    yield box
    box.post(path, {"enabled_events[0]": "*"})


def test_repeated_until_accepted(only_completed: Running) -> None:
    """An event is repeated, the same bytes signed with each attempt's own time, until a 2xx and not beyond."""
    box = only_completed
    box.receiver.statuses = [500, 302, 404]
    session = sell(box)
    for attempt in range(1, 5):
        until(lambda: len(arrivals(box, session)) == attempt)  # noqa: B023 - called at once
        until(lambda: all(one["next_at"] > box.now() for one in box.deliveries("pending")))
        box.advance(HOUR)
    [delivery] = [one for one in box.deliveries("delivered") if one["event"] == completed(box)["id"]]
    assert [attempt["outcome"] for attempt in delivery["attempts"]] == ["500", "302", "404", "200"]
    tries = arrivals(box, session)
    times = [signed_at(signature) for _, signature in tries]
    assert len({body for body, _ in tries}) == 1
    assert all(later - earlier >= HOUR for earlier, later in pairwise(times))
    for body, signature in tries:
        stripe.Webhook.construct_event(body, signature, SECRET, tolerance=24 * HOUR)


def test_the_back_off(only_completed: Running) -> None:
    """The first repeat comes after seconds, not before, and the waits grow."""
    box = only_completed
    box.fault("webhook_down", count=4)
    session = sell(box)
    waits: list[float] = []
    for attempts in range(1, 5):
        until(lambda: [one for one in box.deliveries("pending") if len(one["attempts"]) == attempts])  # noqa: B023 - at once
        [delivery] = box.deliveries("pending")
        waits.append(delivery["next_at"] - delivery["attempts"][-1]["at"])
        box.advance(delivery["next_at"] - box.now())
    until(lambda: arrivals(box, session))
    assert waits[0] <= 10
    assert waits == sorted(set(waits))


def test_giving_up(box: Running) -> None:
    """After three days of trying, an event is let go and stays undelivered."""
    box.fault("webhook_down", count=None)
    session = sell(box)
    for _ in range(8):
        box.advance(12 * HOUR)
        until(lambda: all(one["next_at"] > box.now() for one in box.deliveries("pending")))
    assert box.deliveries("pending") == []
    box.web.delete("/_faults")
    box.advance(24 * HOUR)
    assert arrivals(box, session) == []
    assert completed(box)["pending_webhooks"] == 1


def test_several_secrets(tmp_path: Path) -> None:
    """During a rotation the header has one signature a secret, and each of them is right."""
    with receiving() as receiver, running(tmp_path, receiver, secrets=("whsec_old", "whsec_new")) as box:
        sell(box)
        until(lambda: COMPLETED in receiver.types())
        body, signature = receiver.arrived[0]
        assert signature.count("v1=") == 2
        for secret in ("whsec_old", "whsec_new"):
            stripe.Webhook.construct_event(body, signature, secret)


def test_reordering(box: Running) -> None:
    """With the fault on, the first sale's event arrives after the second's."""
    box.fault("webhook_reorder", path=COMPLETED)
    first, second = sell(box), sell(box)
    until(lambda: arrivals(box, first))
    order = [event["data"]["object"]["id"] for event in box.receiver.events() if event["type"] == COMPLETED]
    assert order == [second["id"], first["id"]]


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


def test_a_changed_configuration(tmp_path: Path) -> None:
    """An endpoint that is no longer configured is gone after a restart, and a price changed by hand is kept."""
    with receiving() as old, receiving() as new:
        with running(tmp_path, old) as box:
            box.web.post("/_price", json={"id": "price_sandbox_cissp", "unit_amount": 5900})
        with running(tmp_path, new) as box:
            assert [one["url"] for one in box.get("/v1/webhook_endpoints").json()["data"]] == [new.url]
            assert box.session()["amount_total"] == 5900


@pytest.mark.parametrize("believed", [False, True])
def test_an_endpoint_of_a_private_authority(tmp_path: Path, believed: bool) -> None:  # noqa: FBT001  a parameter
    """An endpoint of a private authority gets its webhooks when the sandbox is given that authority."""
    authority = make_authority(tmp_path)
    with (
        receiving(authority.certify()) as receiver,
        running(
            tmp_path, receiver, change=lambda one: replace(one, ca_file=authority.file if believed else None)
        ) as box,
    ):
        sell(box)
        until(lambda: box.deliveries("delivered" if believed else "pending"))
        until(lambda: believed or box.deliveries("pending")[0]["attempts"])
        assert bool(receiver.arrived) is believed
