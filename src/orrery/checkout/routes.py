"""The public operations of checkout over HTTP (spec 1, Endpoints; decisions 2, 3, 7, 11, 14)."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from orrery.checkout.access.fulfilment import WebhookReceiver
from orrery.checkout.access.lookup import AccessAnswer, Lookup, SessionState, SessionStates
from orrery.checkout.button.routes import Button
from orrery.checkout.catalogue import SLUG, SLUG_MAXIMUM, ProductKey
from orrery.checkout.selling.health import ProxyHealth
from orrery.checkout.selling.price_list import KEPT, ListedProduct, PriceList
from orrery.checkout.selling.service import Checkout, CreatedSession, Purchase
from orrery.edge.auth import ServiceBearer
from orrery.edge.body import is_form, json_body, read_body, read_form, read_model
from orrery.edge.client_address import ClientAddresses, is_private, rate_scopes
from orrery.edge.cors import PUBLIC_HEADERS
from orrery.edge.direct import DirectRoute
from orrery.edge.problem import Problem
from orrery.edge.problems import problems
from orrery.edge.rate_limit import RateLimit, SharedLimit, too_many
from orrery.edge.routes import Routes
from orrery.edge.scripts import kept_answer
from orrery.errors import Invalid

PREFIX = "/guided/api"

CHECKOUT_BODY = 4 * 1024
"""Largest body of the checkout operation in bytes (decision 2)."""

WEBHOOK_BODY = 1024 * 1024
"""Largest webhook body in bytes; the processor's events are a hundredth of that."""

_IDEMPOTENCY_KEY = r"^[\x21-\x7e]{1,255}$"
_SESSION_ID = r"^[A-Za-z0-9_]{1,255}$"

Slug = Annotated[str, Field(pattern=f"^{SLUG.pattern}$", max_length=SLUG_MAXIMUM)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


# The docstrings of these models are part of the operations' reference: they cite no source.


class CheckoutRequest(_Body):
    """The request of the visitor's browser."""

    productType: Literal["cert"]  # noqa: N815  the spec's name
    certCode: Slug  # noqa: N815  the spec's name
    vendorSlug: Slug  # noqa: N815  the spec's name


class CheckoutForm(CheckoutRequest):
    """The same from the form of a page; `form_token` is that of a page of ours."""

    form_token: str = ""


class CheckRequest(_Body):
    """Whose access to what: exactly one of `email` and `sessionId`.

    `vendorSlug` is required where more than one vendor has the `certCode`.
    """

    email: str | None = Field(None, min_length=3, max_length=254)
    sessionId: str | None = Field(None, pattern=_SESSION_ID)  # noqa: N815  as the other names of this interface
    certCode: Slug  # noqa: N815  the spec's name
    vendorSlug: Slug | None = None  # noqa: N815  the spec's name

    @model_validator(mode="after")
    def _one_of_two(self) -> "CheckRequest":
        if (self.email is None) == (self.sessionId is None):
            raise ValueError("exactly one of email and sessionId is needed")
        return self


class Received(BaseModel):
    """The webhook's acknowledgement, with the result of the event."""

    received: str


@dataclass(frozen=True, slots=True)
class CheckoutRoutes:
    """The routes of checkout, over the checkout's services."""

    checkout: Checkout
    button: Button
    prices: PriceList
    webhook: WebhookReceiver
    lookup: Lookup
    session_states: SessionStates
    addresses: ClientAddresses
    proxies: ProxyHealth
    limit: SharedLimit
    read_limit: RateLimit
    bearer: ServiceBearer

    def router(self) -> APIRouter:
        router = APIRouter(prefix=PREFIX, tags=["checkout"])
        # A form's address is written by hand, at times with a slash too many.
        for path in ("/checkout", "/checkout/"):
            router.add_api_route(
                path,
                self.create,
                methods=["POST"],
                response_model=CreatedSession,
                responses=_CHECKOUT,
                openapi_extra=json_body(CheckoutRequest, CheckoutForm),
                dependencies=[Depends(self._show_forms_pages)],
                include_in_schema=path == "/checkout",
                summary="Start a hosted payment session",
            )
        router.add_api_route(
            "/products",
            self.products,
            methods=["GET"],
            response_model=list[ListedProduct],
            responses=problems(503),
            summary="List the products with their prices (a site's pages)",
        )
        router.add_api_route(
            "/webhook",
            self.receive,
            methods=["POST"],
            response_model=Received,
            responses=problems(400, 408, 413, 503),
            openapi_extra=_WEBHOOK,
            summary="Receive an event of the payment processor",
        )
        router.add_api_route(
            "/access/check",
            self.check,
            methods=["POST"],
            response_model=AccessAnswer,
            responses=problems(400, 401, 408, 413, 415, 422, 429, 503),
            openapi_extra=json_body(CheckRequest) | {"security": [{"serviceBearer": []}]},
            summary="Ask whether access is open (practice sites)",
        )
        router.add_api_route(
            "/access/{session_id}",
            self.state,
            methods=["GET"],
            response_model=SessionState,
            responses=problems(404, 422, 429, 503),
            summary="Ask what became of a session (success page)",
        )
        return router

    def all(self) -> Routes:
        """Return all of them, with a direct route to the webhook, which is called most."""
        return Routes(public=[self.router()], direct=[DirectRoute(f"{PREFIX}/webhook", self.receive)])

    async def create(
        self,
        request: Request,
        idempotency_key: Annotated[
            str | None,
            Header(description="Makes a double click return the same session.", pattern=_IDEMPOTENCY_KEY),
        ] = None,
    ) -> CreatedSession | Response:
        """Create a hosted payment session and return where the visitor pays; answer a form with a page."""
        if is_form(request):
            return await self._take_form(request)
        address = await self._counted_start(request)
        asked = await read_model(request, CheckoutRequest, CHECKOUT_BODY)
        product = ProductKey(asked.productType, asked.certCode, asked.vendorSlug)
        return await self.checkout.create(Purchase(product, address, idempotency_key))

    async def _show_forms_pages(self, request: Request) -> None:
        """Answer a form with pages before its headers are judged."""
        if is_form(request):
            self.button.pages.show_errors(request)

    async def _take_form(self, request: Request) -> Response:
        _ = await self._counted_start(request)
        asked = await read_form(request, CheckoutForm, CHECKOUT_BODY)
        return self.button.take(
            request, ProductKey(asked.productType, asked.certCode, asked.vendorSlug), asked.form_token
        )

    async def products(self, request: Request) -> Response:
        """Return the products of all sites; any page may read them, and a cache may keep them for a minute."""
        text, etag = _shown(tuple(await self.prices.read()))
        return kept_answer(request, text, etag, _PRODUCTS)

    async def _counted_start(self, request: Request) -> str:
        """Return the client's address, having counted a new session; raise a 429 `Problem` past the limit."""
        address = self.addresses.of(request)
        await self._note(request, address, await self.limit.wait(*rate_scopes(address)))
        return address

    async def _note(self, request: Request, address: str, wait: int) -> None:
        """Note what a request shows of a proxy; raise a 429 `Problem` where it must `wait`."""
        proxy = self.addresses.untrusted_proxy(request)
        if wait:
            if proxy:
                _ = self.proxies.forwards(proxy)
            if is_private(address):
                self.proxies.refused(address)
            raise too_many(wait)
        if proxy:
            await self.proxies.show(proxy)

    async def receive(self, request: Request) -> Received:
        """Check and store one event."""
        if proxy := self.addresses.untrusted_proxy(request):
            await self.proxies.show(proxy)
        signatures = request.headers.getlist("stripe-signature")
        signature = signatures[0] if len(signatures) == 1 else ""
        await self.webhook.require_signature(signature)
        try:
            body = await read_body(request, WEBHOOK_BODY)
        except Problem as problem:
            if problem.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                await self.webhook.refusals.too_large(signature)
            raise
        return Received(received=await self.webhook.receive(body, signature))

    async def state(self, request: Request, session_id: Annotated[str, Path(max_length=255)]) -> SessionState:
        """Return whether the session is open, pending, granted, ended or failed; nothing personal."""
        address = self.addresses.of(request)
        await self._note(request, address, self.read_limit.wait(*rate_scopes(address)))
        return await self.session_states.of(session_id)

    async def check(self, request: Request) -> AccessAnswer:
        """Return whether a buyer has access to a product now."""
        await self.bearer.require(request)
        asked = await read_model(request, CheckRequest, CHECKOUT_BODY)
        product = asked.certCode, asked.vendorSlug
        try:
            if asked.sessionId is not None:
                return await self.lookup.check_session(asked.sessionId, *product)
            return await self.lookup.check_email(asked.email or "", *product)
        except Invalid as error:
            raise Problem(422, "invalid-field", str(error)) from None


@lru_cache(maxsize=1)
def _shown(products: tuple[ListedProduct, ...]) -> tuple[str, str]:
    """Return products as JSON, with its ETag: many visitors ask for what changes once a minute at most."""
    text = json.dumps([asdict(one) for one in products], separators=(",", ":"))
    return text, f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


_PRODUCTS = {
    **{name.decode(): value.decode() for name, value in PUBLIC_HEADERS},
    "Content-Type": "application/json",
    "Cache-Control": f"public, max-age={KEPT}",
}

_PAGE: dict[str, Any] = {"content": {"text/html": {"schema": {"type": "string"}}}}

_CHECKOUT: dict[int | str, dict[str, Any]] = {
    200: _PAGE,
    303: {"description": "A form: the way to the payment page"},
    403: _PAGE | {"description": "A form of a page elsewhere: a page that asks"},
    **{
        status: about | _PAGE
        for status, about in problems(400, 404, 408, 409, 413, 415, 422, 429, 502, 503).items()
    },
}
"""A form is answered with pages, whatever goes wrong."""

_WEBHOOK: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}},
    "parameters": [
        {
            "name": "Stripe-Signature",
            "in": "header",
            "required": True,
            "description": "`t=<unix seconds>,v1=<hex HMAC-SHA256 of 't.body'>`, several v1 allowed.",
            "schema": {"type": "string"},
        }
    ],
}
