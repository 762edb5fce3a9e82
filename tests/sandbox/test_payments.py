"""The hosted payment page, and what a payment leaves behind."""

from orrery.sandbox.ground import Document
from tests.sandbox.conftest import Running, until


def read(box: Running, session: Document) -> Document:
    """Return a session as it is now."""
    return box.get(f"/v1/checkout/sessions/{session['id']}").json()


def charges(box: Running, email: str) -> list[Document]:
    """Return the charges of one buyer, newest first."""
    found = box.get("/v1/charges?limit=100").json()["data"]
    return [charge for charge in found if charge["billing_details"]["email"] == email]


def test_a_declined_card(box: Running) -> None:
    """A declined card leaves a failed charge with its reasons; the session stays open and can be paid then."""
    session = box.session()
    answer = box.pay(session, email="declined@example.org", verdict="declined")
    assert answer.status_code == 402
    assert "declined" in answer.text
    [charge] = charges(box, "declined@example.org")
    assert (charge["status"], charge["failure_code"]) == ("failed", "card_declined")
    assert charge["outcome"]["network_status"] == "declined_by_network"
    assert read(box, session)["status"] == "open"
    assert box.pay(session, email="declined@example.org").status_code == 303


def test_a_blocked_buyer(box: Running) -> None:
    """A buyer on a block list is refused before the network is asked."""
    blocklist = box.get("/v1/radar/value_lists?alias=email_blocklist").json()["data"][0]
    box.post("/v1/radar/value_list_items", {"value": "thief@example.org", "value_list": blocklist["id"]})
    assert box.pay(box.session(), email="Thief@example.org").status_code == 402
    [charge] = charges(box, "Thief@example.org")
    assert (charge["outcome"]["type"], charge["outcome"]["network_status"]) == ("blocked", "not_sent_to_network")


def test_a_delayed_payment(box: Running) -> None:
    """A delayed payment completes unpaid; settling it pays and announces it; it settles once."""
    session = box.session()
    box.pay(session, email="later@example.org", verdict="delayed")
    assert (read(box, session)["status"], read(box, session)["payment_status"]) == ("complete", "unpaid")
    assert charges(box, "later@example.org")[0]["status"] == "pending"
    assert box.web.post(f"/_settle/{session['id']}").status_code == 200
    assert read(box, session)["payment_status"] == "paid"
    assert charges(box, "later@example.org")[0]["status"] == "succeeded"
    until(lambda: "checkout.session.async_payment_succeeded" in box.receiver.types())
    assert box.web.post(f"/_settle/{session['id']}").status_code == 400


def test_attempts_share_a_payment(box: Running) -> None:
    """A declined attempt makes the payment by which the open session is found; the next goes on with it."""
    session = box.session()
    box.pay(session, email="stubborn@example.org", verdict="declined")
    [declined] = charges(box, "stubborn@example.org")
    found = box.client().checkout.sessions.list({"payment_intent": declined["payment_intent"]})
    assert [(one.id, one.status) for one in found.data] == [(session["id"], "open")]
    box.pay(session, email="stubborn@example.org")
    paid, again = charges(box, "stubborn@example.org")
    assert (again["id"], paid["status"]) == (declined["id"], "succeeded")
    assert paid["payment_intent"] == declined["payment_intent"] == read(box, session)["payment_intent"]
