"""The processor by its official library: answers, events, parameters and webhooks as published."""

import json
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
import stripe
from stripe._v1_services import V1Services

from orrery.sandbox.ground import Document
from orrery.sandbox.operations import Operation
from orrery.sandbox.processor.api import OPERATIONS
from orrery.sandbox.processor.call import ApiRun
from orrery.sandbox.processor.parameters import Kind, Shape
from orrery.sandbox.processor.world import VERSIONS
from tests.sandbox.contracts import (
    PROCESSOR_EXCEPTIONS,
    Schema,
    check_object,
    check_processor,
    needs_contract,
    processor,
    query_schema,
    request_schema,
)
from tests.support.running_sandbox import PRICE, SECRET, Running, receiving, running
from tests.support.tables import each_case
from tests.support.waiting import until

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
    """Each list has elements, and answers by the contract; so does the balance."""
    for path, call in lists(sold.client()).items():
        answer = body_of(call())
        assert answer["data"], path
        check_processor("GET", path, answer)
    check_processor("GET", "/v1/balance", body_of(sold.client().balance.retrieve()))


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
    check_processor("POST", "/v1/checkout/sessions", body_of(created))
    check_processor("GET", "/v1/checkout/sessions/{session}", body_of(sessions.retrieve(created.id)))
    expanded = body_of(sessions.retrieve(created.id, {"expand": ["line_items"]}))
    check_processor("GET", "/v1/checkout/sessions/{session}", expanded)
    assert [item["price"]["id"] for item in expanded["line_items"]["data"]] == [PRICE]
    expired = body_of(sessions.expire(created.id))
    check_processor("POST", "/v1/checkout/sessions/{session}/expire", expired)
    assert (expired["status"], expired["url"]) == ("expired", None)


def test_value_list_item_operations(box: Running) -> None:
    """Entries can be added to a fraud list once, and removed."""
    client = box.client()
    (addresses,) = client.radar.value_lists.list({"alias": "client_ip_address_blocklist"}).data
    wanted: Any = {"value": "203.0.113.9", "value_list": addresses.id}
    created = client.radar.value_list_items.create(wanted)
    check_processor("POST", "/v1/radar/value_list_items", body_of(created))
    with pytest.raises(stripe.InvalidRequestError, match="already"):
        client.radar.value_list_items.create(wanted)
    gone = body_of(client.radar.value_list_items.delete(created.id))
    check_processor("DELETE", "/v1/radar/value_list_items/{item}", gone)


def test_a_webhook_endpoint(box: Running) -> None:
    """Endpoints can be created: the one answer with a secret."""
    endpoints = box.client().webhook_endpoints
    made = endpoints.create({"url": "https://shop.example/hook", "enabled_events": ["charge.dispute.closed"]})
    check_processor("POST", "/v1/webhook_endpoints", body_of(made))
    assert body_of(made)["secret"].startswith("whsec_")


MARKED = {"PATCH /v1/account"}


ENDIVE = "2026-09-30.endive"
"""Newer than the contract: the version that the product must not be given (decision 1)."""


def differences(kind: Kind, published: Schema, name: str) -> Iterator[str]:
    """Yield where the description has a name, a shape or a requirement that the contract has not."""
    while "anyOf" in published:
        choices = [one for one in published["anyOf"] if one.get("enum") != [""]]
        maps = [one for one in choices if one.get("type") == "object"]
        published = maps[0] if maps and isinstance(kind, Shape) else choices[0]
    wanted = "object" if isinstance(kind, Shape) else None if callable(kind) else "array"
    if wanted not in {None, published.get("type")}:
        yield f"{name} is {published.get('type')}, not {wanted}"
        return
    match kind:
        case [item]:
            yield from differences(item, published["items"], f"{name}[]")
        case Shape(refused=""):
            fields = published.get("properties", {})
            if not kind.required >= {*published.get("required", ())}:
                yield f"{name} requires {published['required']}"
            yield from (f"{name}[{key}] is not published" for key in kind.fields.keys() - fields.keys())
            for key in kind.fields.keys() & fields.keys():
                yield from differences(kind.fields[key], fields[key], f"{name}[{key}]")
        case _:
            pass


@each_case("operation", OPERATIONS)
def test_what_is_taken_is_published(operation: Operation[ApiRun]) -> None:
    """Each operation but the marked one, with the names, lists, maps and requirements of its body or query."""
    assert (operation.method.lower() in processor()["paths"].get(operation.path, {})) == (
        operation.call not in MARKED
    )
    schemas = {"POST": request_schema, "GET": query_schema}
    if (schema := schemas.get(operation.method)) is not None:
        assert [*differences(operation.run.parameters, schema(operation.path), "")] == []


def test_the_versions_that_there_are() -> None:
    """All named versions that the vendor publishes are known, and one that came after them."""
    published: list[str] = request_schema("/v1/webhook_endpoints")["properties"]["api_version"]["enum"]
    assert {one for one in published if "." in one} == VERSIONS - {ENDIVE}
    assert set(PROCESSOR_EXCEPTIONS) >= MARKED


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


def sale(box: Running) -> Document:
    """Create a session and pay it."""
    session = box.session()
    assert box.pay(session).status_code == 303
    return session


def test_repeated_until_accepted(box: Running) -> None:
    """An event is repeated, the same bytes signed with each attempt's own time, until a 2xx and not beyond."""
    box.receiver.statuses = [500] * 9
    session = sale(box)
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
        sale(box)
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
            session = sale(box)
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


def outcomes(box: Running) -> list[list[str]]:
    """Return what came of the attempts to deliver the three events of the last sale."""
    made = islice(box.sandbox.state.newest_first("_delivery"), 3)
    return sorted([attempt["outcome"] for attempt in one["attempts"]] for one in made)


def test_each_attempt_is_struck_by_one_fault(box: Running) -> None:
    """The one that comes late is not lost, too; one that was accepted comes twice, and no other."""
    box.fault("webhook_reorder")
    box.fault("webhook_down", count=None)
    sale(box)
    box.advance(2)
    until(lambda: all(outcomes(box)))
    assert outcomes(box) == [["200"], ["endpoint down"], ["endpoint down"]]
    box.web.delete("/_faults")
    box.fault("webhook_duplicate")
    box.advance(HOUR)
    until(lambda: not box.deliveries("pending"))
    assert outcomes(box) == [["200"], ["endpoint down", "200"], ["endpoint down", "200", "200"]]
