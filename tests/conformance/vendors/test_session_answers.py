"""A new session is what was asked for, or no visitor is sent there: each field of the answer, in each wrong form.

The session is the sandbox's, changed on the way; the vendor's own client reads it.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.checkout.catalogue import Product, session_parameters
from orrery.checkout.records import Receipt
from orrery.checkout.selling.receipts import payment_page
from orrery.ports.processor import CheckoutSession
from orrery.ports.processor.errors import ProcessorUnreachable
from tests.support.checkout import TERMS
from tests.support.clock import START
from tests.support.running_sandbox import KEY, PRICE, Running
from tests.support.serving import served
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

PRODUCT = Product("isc2", "cissp", "CISSP", PRICE)
ACCEPTED = Receipt(
    vendor_slug="isc2",
    cert_code="cissp",
    digest="",
    parameters={},
    api_version="",
    run_id="",
    deployment="",
    session_id="cs_of_the_preflight",
    accepted_at=START,
    amount_total=4900,
    currency="usd",
)
MISSING = object()
HUGE = "x" * 100_000
ITEMS: dict[str, Any] = {"object": "list", "has_more": False, "url": "/v1"}


def items(*prices: object) -> dict[str, Any]:
    """Return line items with these prices."""
    return ITEMS | {"data": [{"id": "li_1", "object": "item", "price": price, "quantity": 1} for price in prices]}


WRONG: dict[str, list[object]] = {
    "id": [MISSING, None, 7, "pi_1", "cs_live_1", "cs_" + HUGE],
    "livemode": [MISSING, None, "false", True],
    "mode": [MISSING, None, 7, "subscription", HUGE],
    "status": [MISSING, None, 7, "expired", HUGE],
    "payment_status": [MISSING, None, 7, "paid", "no_payment_required", HUGE],
    "url": [MISSING, None, 7, "javascript:alert(1)", "https://a.example/ b", "https://a.example/" + HUGE],
    "amount_total": [MISSING, None, "4900", 49.5, 0, -4900, 4901, 490_000, 10**30],
    "currency": [MISSING, None, 7, "", "USD", "dollars", HUGE],
    "metadata": [
        MISSING,
        None,
        [],
        {},
        {"productType": "cert", "certCode": "cissp"},
        {"productType": "cert", "certCode": "cissp", "vendorSlug": "other"},
        {"productType": "cert", "certCode": 7, "vendorSlug": "isc2"},
        {"productType": "cert", "certCode": HUGE, "vendorSlug": "isc2"},
    ],
    "line_items": [
        [],
        items(),
        items(None),
        items("price_other"),
        items(PRICE, "price_other"),
        items({"id": HUGE}),
    ],
    "created": [MISSING, None, "now", 10**300],
}
"""For each field that is read, the forms in which the answer sends no visitor on."""

HARMLESS: dict[str, list[object]] = {
    "line_items": [MISSING, None, items(PRICE), items({"id": PRICE, "object": "price"})],
    "metadata": [{"productType": "cert", "certCode": "cissp", "vendorSlug": "isc2", "noted": HUGE}],
    "currency": ["nzd"],
    "expires_at": [MISSING, None, "soon", -1, 10**300],
    "payment_intent": [MISSING, None],
    "customer_details": [MISSING, None],
    "custom_fields": [MISSING, None, 7, HUGE],
    "payment_method_types": [MISSING, None, 7],
    "payment_method_options": [MISSING, None, 7],
    "custom_text": [MISSING, None, 7],
    "success_url": [MISSING, None, 7, HUGE],
    "cancel_url": [MISSING, None, 7, HUGE],
}
"""Forms in which it is still the session that was asked for: no field contradicts that."""


class Between:
    """A proxy: it answers with the sandbox's session, of which it changes fields."""

    def __init__(self, session: dict[str, Any]) -> None:
        self.session = session
        self.changes: dict[str, object] = {}

    async def answer(self, _: Request) -> Response:
        """Answer one request."""
        fields = (self.session | self.changes).items()
        return JSONResponse({name: value for name, value in fields if value is not MISSING})


@pytest.fixture(scope="module")
def between(module_box: Running) -> Iterator[tuple[Between, StripeProcessor]]:
    """Yield the proxy, and the adapter that asks through it."""
    one = Between(module_box.session())
    app = Starlette(routes=[Route("/v1/checkout/sessions", one.answer, methods=["POST"])])
    with served(app) as url:
        yield one, StripeProcessor(StripeConnection(KEY, base_url=url))


def page_of(
    between: tuple[Between, StripeProcessor],
    field: str,
    value: object,
    accepted: Receipt | None = ACCEPTED,
) -> str:
    """Return where a visitor is sent when a field of the answer has another value."""
    between[0].changes = {field: value}
    parameters = session_parameters(PRODUCT, TERMS)
    created = asyncio.run(between[1].create_session(parameters, idempotency_key="key", deadline=PATIENCE))
    return payment_page(created, PRODUCT.key, PRICE, accepted, livemode=False)


@each_case("field", WRONG)
def test_a_field_that_is_wrong(between: tuple[Between, StripeProcessor], field: str) -> None:
    """No visitor is sent to a session that is not what was asked for; why is one short line without the value."""
    for value in WRONG[field]:
        with pytest.raises(ProcessorUnreachable) as refused:
            page_of(between, field, value)
        assert str(refused.value).isprintable(), value
        assert len(str(refused.value)) < 200, value


@each_case("field", HARMLESS)
def test_a_field_that_decides_nothing(between: tuple[Between, StripeProcessor], field: str) -> None:
    """What the answer leaves out, and what only describes, stops no sale."""
    for value in HARMLESS[field]:
        assert page_of(between, field, value).startswith("http://127.0.0.1:"), value


@pytest.mark.parametrize("amount", [MISSING, None, 0, -4900, 1, 4901])
def test_an_amount_without_a_receipt(between: tuple[Between, StripeProcessor], amount: object) -> None:
    """Where no amount was accepted, any amount above zero is sold, and no other."""
    if isinstance(amount, int) and amount > 0:
        assert page_of(between, "amount_total", amount, None)
        return
    with pytest.raises(ProcessorUnreachable):
        page_of(between, "amount_total", amount, None)


def test_every_field_that_is_read_is_tried() -> None:
    """Each field of a session that the adapter reads is in one of the two tables, but those of the buyer."""
    read = set(CheckoutSession.__dataclass_fields__)
    of_the_answer = {
        "email": "customer_details",
        "consent": "custom_fields",
        "price_ids": "line_items",
        "quantities": "line_items",
        "three_d_secure": "payment_method_options",
        "submit_message": "custom_text",
    }
    assert {of_the_answer.get(name, name) for name in read} == {*WRONG, *HARMLESS}
