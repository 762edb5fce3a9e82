"""Every operation, driven by the vendor's own library, answers as the published contract has it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import stripe
from stripe._v1_services import V1Services

from orrery.sandbox.ground import Document
from tests.sandbox.conftest import PRICE, Running
from tests.sandbox.contract import check_answer, check_object, needs_contract

pytestmark = needs_contract
SALE: Any = {
    "mode": "payment",
    "line_items": [{"price": PRICE, "quantity": 1}],
    "payment_method_types": ["card", "link"],
    "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
    "custom_text": {"submit": {"message": "One year of practice questions."}},
    "success_url": "http://127.0.0.1:1/thanks?session={CHECKOUT_SESSION_ID}",
    "metadata": {"certCode": "cissp"},
}


def body_of(answer: stripe.StripeObject) -> Document:
    """Return the JSON that the library received for this object."""
    assert answer.last_response is not None
    return json.loads(answer.last_response.body)


@pytest.fixture
def sold(box: Running) -> Running:
    """A sandbox in which every kind of object exists."""
    for verdict in ("approved", "declined", "review", "delayed"):
        box.pay(box.session(), verdict=verdict, field_marketing_consent="yes")
    box.pay(box.session(), verdict="approved", confirmed="yes", method="google_pay")
    box.pay(box.session(customer_creation="always"), method="link")
    box.session(**{"consent_collection[terms_of_service]": "required"})
    box.post(f"/v1/checkout/sessions/{box.session()['id']}/expire", {})
    lists = box.get("/v1/radar/value_lists?alias=email_blocklist").json()["data"]
    box.post("/v1/radar/value_list_items", {"value": "thief@example.org", "value_list": lists[0]["id"]})
    return box


def lists(client: V1Services) -> dict[str, Callable[[], Any]]:
    """Return a call for each list of the API."""
    v1 = client
    blocklist = next(one for one in v1.radar.value_lists.list().data if one.alias == "email_blocklist")
    return {
        "/v1/checkout/sessions": lambda: v1.checkout.sessions.list({"limit": 100, "expand": ["data.line_items"]}),
        "/v1/prices": lambda: v1.prices.list({"limit": 1, "active": True}),
        "/v1/charges": lambda: v1.charges.list({"limit": 100}),
        "/v1/customers": lambda: v1.customers.list({"limit": 100}),
        "/v1/payment_method_configurations": v1.payment_method_configurations.list,
        "/v1/radar/value_lists": v1.radar.value_lists.list,
        "/v1/radar/value_list_items": lambda: v1.radar.value_list_items.list({"value_list": blocklist.id}),
        "/v1/reviews": v1.reviews.list,
        "/v1/events": lambda: v1.events.list({"limit": 100}),
        "/v1/webhook_endpoints": v1.webhook_endpoints.list,
    }


def test_lists(sold: Running) -> None:
    """Each list has elements, and answers by the contract."""
    for path, call in lists(sold.client()).items():
        answer = body_of(call())
        assert answer["data"], path
        check_answer("GET", path, answer)


def test_events_carry_their_object(sold: Running) -> None:
    """The object in each event is one of the contract's, as it was when it happened."""
    events = body_of(sold.client().events.list({"limit": 100}))["data"]
    assert len({event["type"] for event in events}) >= 8
    for event in events:
        check_object(event["data"]["object"]["object"], event["data"]["object"])


def test_session_operations(box: Running) -> None:
    """Creating, reading, expanding and expiring a session answer by the contract."""
    sessions = box.client().checkout.sessions
    created = sessions.create(SALE)
    check_answer("POST", "/v1/checkout/sessions", body_of(created))
    check_answer("GET", "/v1/checkout/sessions/{session}", body_of(sessions.retrieve(created.id)))
    expanded = body_of(sessions.retrieve(created.id, {"expand": ["line_items"]}))
    check_answer("GET", "/v1/checkout/sessions/{session}", expanded)
    assert [item["price"]["id"] for item in expanded["line_items"]["data"]] == [PRICE]
    expired = body_of(sessions.expire(created.id))
    check_answer("POST", "/v1/checkout/sessions/{session}/expire", expired)
    assert (expired["status"], expired["url"]) == ("expired", None)


def test_value_list_item_operations(box: Running) -> None:
    """Entries can be added to a fraud list once, and removed."""
    client = box.client()
    by_alias = {one.alias: one for one in client.radar.value_lists.list().data}
    assert {"email_blocklist", "card_fingerprint_blocklist", "client_ip_address_blocklist"} < set(by_alias)
    wanted: Any = {"value": "203.0.113.9", "value_list": by_alias["client_ip_address_blocklist"].id}
    created = client.radar.value_list_items.create(wanted)
    check_answer("POST", "/v1/radar/value_list_items", body_of(created))
    with pytest.raises(stripe.InvalidRequestError, match="already"):
        client.radar.value_list_items.create(wanted)
    gone = body_of(client.radar.value_list_items.delete(created.id))
    check_answer("DELETE", "/v1/radar/value_list_items/{item}", gone)
    assert client.radar.value_list_items.list({"value_list": wanted["value_list"]}).data == []


def test_a_webhook_endpoint(box: Running) -> None:
    """Endpoints can be created: the one answer with a secret."""
    endpoints = box.client().webhook_endpoints
    made = endpoints.create({"url": "https://shop.example/hook", "enabled_events": ["charge.dispute.closed"]})
    check_answer("POST", "/v1/webhook_endpoints", body_of(made))
    assert body_of(made)["secret"].startswith("whsec_")


def test_the_balance(sold: Running) -> None:
    """The balance is in the account's own currency."""
    balance = body_of(sold.client().balance.retrieve())
    check_answer("GET", "/v1/balance", balance)
    assert [one["currency"] for one in balance["available"]] == ["nzd"]
    assert balance["available"][0]["amount"] > 0


@pytest.mark.parametrize("wrong", [{"colour": "red"}, {"amount": "4900"}, {"status": "gone"}, {"id": None}])
def test_the_comparison_is_strict(box: Running, wrong: Document) -> None:
    """A field beyond the contract, another type, an unknown value or a null where none may be is seen."""
    box.pay(box.session())
    charge = body_of(box.client().charges.list({"limit": 1}))["data"][0]
    check_object("charge", charge)
    with pytest.raises(AssertionError):
        check_object("charge", charge | wrong)
