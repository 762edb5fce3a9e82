"""Where the sandbox once answered otherwise than the vendor, where a user of both would see it."""

import pytest

from orrery.sandbox.processor.world import VERSIONS
from tests.sandbox.conftest import PRICE, Running, until
from tests.sandbox.contract import needs_contract, request_schema

ENDIVE = "2026-09-30.endive"
"""Newer than the contract: the version that the product must not be given (decision 1)."""


def test_a_guest_is_no_customer(box: Running) -> None:
    """A payment makes a customer where the session asks for one, and else leaves the buyer's details alone."""
    guest, member = box.session(), box.session(customer_creation="always")
    for session in (guest, member):
        box.pay(session, email="guest.or.not@example.org")
    found = [box.get(f"/v1/checkout/sessions/{one['id']}").json() for one in (guest, member)]
    assert {one["customer_details"]["email"] for one in found} == {"guest.or.not@example.org"}
    [customer] = box.get("/v1/customers?email=guest.or.not@example.org").json()["data"]
    assert [one["customer"] for one in found] == [None, customer["id"]]
    charges = [box.get(f"/v1/charges?payment_intent={one['payment_intent']}").json() for one in found]
    assert [one["data"][0]["customer"] for one in charges] == [None, customer["id"]]


@pytest.mark.parametrize("path", ["line_items.data.price.product", "line_items.nothing"])
def test_what_is_expanded_below_line_items(box: Running, path: str) -> None:
    """An expansion that is not played is refused in so many words, and not left out."""
    session = box.session()
    refused = box.get(f"/v1/checkout/sessions/{session['id']}?expand[]={path}")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "expand")
    assert path in refused.json()["error"]["message"]


@pytest.mark.parametrize("version", ["2026-08-27.dahlia", "2026-08-26.dalia", "2026-08-26", "newest"])
def test_a_version_that_there_never_was(box: Running, version: str) -> None:
    """A request in a version that does not exist is refused, and so is a webhook endpoint."""
    refused = box.get("/v1/prices", stripe_version=version)
    assert (refused.status_code, "Invalid Stripe API version" in refused.text) == (400, True)
    wanted = {"url": "http://127.0.0.1:1/hook", "enabled_events[]": "*", "api_version": version}
    refused = box.post("/v1/webhook_endpoints", wanted)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "api_version")


@needs_contract
def test_the_versions_that_there_are() -> None:
    """All named versions that the vendor publishes are known, and one that came after them."""
    published: list[str] = request_schema("/v1/webhook_endpoints")["properties"]["api_version"]["enum"]
    assert {one for one in published if "." in one} == VERSIONS - {ENDIVE}
    assert ENDIVE in VERSIONS


def test_who_brings_a_webhook(box: Running) -> None:
    """Webhooks name the vendor's user agent, by which some servers in front let them in."""
    box.pay(box.session(**{"line_items[0][price]": PRICE}))
    until(lambda: box.receiver.agents)
    assert set(box.receiver.agents) == {"Stripe/1.0 (+https://stripe.com/docs/webhooks)"}
