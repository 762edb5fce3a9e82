"""The path of a sale through the sandbox."""

import stripe

from tests.sandbox.conftest import SECRET, Running, until


def test_a_sale(box: Running) -> None:
    """A payment redirects to the success page and posts a signed webhook."""
    session = box.session()
    assert "Pay 49.00 USD" in box.web.get(f"/pay/{session['id']}").text
    paid = box.pay(session)
    assert paid.status_code == 303, paid.text
    assert paid.headers["location"].endswith(session["id"])
    until(lambda: "checkout.session.completed" in box.receiver.types())
    for body, signature in box.receiver.arrived:
        stripe.Webhook.construct_event(body, signature, SECRET)
