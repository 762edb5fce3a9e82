"""The pages of the site: each handler calls Orrery's operations and renders one template."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from orrery.sandbox.site.config import SiteConfig, SiteProduct
from orrery.sandbox.site.operations import Operations, Refused, Unreachable
from orrery.sandbox.site.rendering import Renderer, read_questions

SESSION_COOKIE = "planet_session"
COOKIE_SECONDS = 366 * 24 * 3600
SESSION_ID = re.compile(r"cs_[A-Za-z0-9_]{1,250}")

FORM_BYTES = 4096
"""The longest posted form; ours has three short fields."""

REFRESH_SECONDS = (2, 2, 3, 5, 8, 13, 21, 34, 60)
"""Pauses between reloads of the success page without JavaScript: about two and a half minutes in all."""

NO_CHECKOUT = "The shop cannot reach its checkout just now. Nothing was charged. Please try again in a minute."

SUCCESS_TITLES = {
    "open": "Your payment is not completed",
    "pending": "Confirming your payment",
    "late": "This takes longer than usual",
    "granted": "Your access is open",
    "ended": "This access has ended",
    "failed": "The payment did not go through",
    "unknown": "We do not know this payment",
}

UNDECIDED = ("open", "pending")
"""States after which the page is reloaded."""

OPENS_NOTHING = ("open", "failed", "unknown")
"""States of sessions that are not remembered: the browser may hold one that opens something."""


@dataclass(frozen=True, slots=True)
class _Refresh:
    seconds: int
    url: str


class Pages:
    """The handlers, over one configuration."""

    def __init__(self, config: SiteConfig, operations: Operations, renderer: Renderer) -> None:
        self._products = {(product.vendor_slug, product.cert_code): product for product in config.products}
        self._questions = {product: read_questions(product) for product in config.products}
        self._front = config.products[0]
        self._operations = operations
        self._renderer = renderer

    def routes(self) -> list[Route]:
        """Return the site's routes."""
        return [
            Route("/", self.front),
            Route("/shop/{vendor}/{cert}", self.shop),
            Route("/buy", self.buy, methods=["POST"]),
            Route("/success", self.success),
            Route("/cancelled", self.cancelled),
            Route("/practice/{vendor}/{cert}", self.practice),
            Route("/analytics", self.analytics),
            Route("/admin", self.admin),
            Route("/site/{edition}/{name}", self.asset),
        ]

    async def front(self, request: Request) -> Response:
        """Show the first product."""
        del request
        return self._shop_page(self._front)

    async def shop(self, request: Request) -> Response:
        """Show the product that the address names."""
        return self._shop_page(self._product_in(request))

    async def buy(self, request: Request) -> Response:
        """Start a checkout for a browser without JavaScript, and send it to the payment page."""
        form = await _read_form(request)
        product = self._product(form.get("vendorSlug", ""), form.get("certCode", ""))
        try:
            session = await self._operations.start_checkout(product, form.get("intent") or _new_intent())
        except Refused as refusal:
            return self._shop_page(product, refusal.status, refusal.message, refusal.headers)
        except Unreachable:
            return self._shop_page(product, HTTPStatus.SERVICE_UNAVAILABLE, NO_CHECKOUT)
        return RedirectResponse(session.url, HTTPStatus.SEE_OTHER)

    async def success(self, request: Request) -> Response:
        """Show the state of a session, and remember in a cookie a session that opens access, or may."""
        session_id = request.query_params.get("session_id", "")
        state, until = await self._read_access(session_id)
        refresh = _next_look(session_id, request) if state in UNDECIDED else None
        if state == "pending" and refresh is None:
            state = "late"
        page = self._renderer.page(
            "success.html",
            HTTPStatus.NOT_FOUND if state == "unknown" else HTTPStatus.OK,
            title=SUCCESS_TITLES[state],
            here="success",
            state=state,
            until=until,
            session_id=session_id,
            refresh=refresh,
        )
        return page if state in OPENS_NOTHING else _remember(session_id, page, request)

    async def practice(self, request: Request) -> Response:
        """Open the questions to those whom Orrery grants them, and to nobody while it cannot be asked."""
        product = self._product_in(request)
        session_id = request.cookies.get(SESSION_COOKIE, "")
        if not SESSION_ID.fullmatch(session_id):
            return self._no_access(product)
        try:
            check = await self._operations.check_access(session_id, product)
        except Unreachable:
            return self._cannot_ask(product)
        if not check.granted:
            return self._no_access(product, session_id)
        return self._practice_page(product, check.expires_at, request)

    async def cancelled(self, request: Request) -> Response:
        """Say that nothing was charged."""
        del request
        return self._renderer.page(
            "message.html",
            title="Nothing was charged",
            here="shop",
            mark="cross",
            text="You left the payment page before paying. The offer stands, whenever you like.",
            links=[("Back to the shop", "/")],
        )

    async def analytics(self, request: Request) -> Response:
        """Show the live count."""
        del request
        return self._renderer.page("analytics.html", title="Who is here right now", here="analytics")

    async def admin(self, request: Request) -> Response:
        """Show the admin's page about all sites, which asks for the admin password in the browser."""
        del request
        return self._renderer.page("admin.html", title="The sites, side by side", here="admin")

    async def asset(self, request: Request) -> Response:
        """Serve a static file."""
        found = self._renderer.asset(request.path_params["edition"], request.path_params["name"])
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return found

    async def http_error(self, request: Request, error: Exception) -> Response:
        """Show an error of the site itself, such as an address without a page."""
        del request
        status = HTTPStatus(error.status_code if isinstance(error, HTTPException) else 500)
        missing = status == HTTPStatus.NOT_FOUND
        return self._renderer.page(
            "message.html",
            status,
            title="There is no such page" if missing else status.phrase,
            here="nowhere",
            mark="query",
            text="The address may be mistyped, or the page has moved." if missing else status.description + ".",
            links=[("Go to the shop", "/")],
        )

    def _product(self, vendor: str, cert: str) -> SiteProduct:
        try:
            return self._products[vendor, cert]
        except KeyError:
            raise HTTPException(HTTPStatus.NOT_FOUND) from None

    def _product_in(self, request: Request) -> SiteProduct:
        return self._product(request.path_params["vendor"], request.path_params["cert"])

    async def _read_access(self, session_id: str) -> tuple[str, datetime | None]:
        if not SESSION_ID.fullmatch(session_id):
            return "unknown", None
        try:
            access = await self._operations.read_access(session_id)
        except Unreachable:
            return "pending", None  # The page goes on asking.
        return (access.state, access.expires_at) if access else ("unknown", None)

    def _shop_page(
        self,
        product: SiteProduct,
        status: int = HTTPStatus.OK,
        problem: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        values = {"title": product.title, "here": "shop", "product": product, "problem": problem}
        return self._renderer.page("shop.html", status, headers, intent=_new_intent(), **values)

    def _practice_page(self, product: SiteProduct, until: datetime | None, request: Request) -> Response:
        questions = self._questions[product]
        answers = [
            _whole_number(request.query_params.get(f"q{number}")) for number in range(1, len(questions) + 1)
        ]
        return self._renderer.page(
            "practice.html",
            title=f"Practice: {product.title}",
            here="practice",
            product=product,
            until=until,
            questions=questions,
            answers=answers,
        )

    def _no_access(self, product: SiteProduct, session_id: str | None = None) -> Response:
        links = [("See the offer", product.shop_path)]
        if session_id:
            links.append(("Look at my payment", f"/success?session_id={session_id}"))
        return self._renderer.page(
            "message.html",
            HTTPStatus.FORBIDDEN,
            title="These questions come with a year of access",
            here="practice",
            mark="lock",
            text=f"{product.title} is open to people whose access is running. "
            + ("Yours has not opened yet, or has ended." if session_id else "This browser has none so far."),
            links=links,
            ask_order=True,
        )

    def _cannot_ask(self, product: SiteProduct) -> Response:
        return self._renderer.page(
            "message.html",
            HTTPStatus.SERVICE_UNAVAILABLE,
            {"Retry-After": "60"},
            title="We cannot look up your access",
            here="practice",
            mark="cloud_off",
            tone="warn",
            text="The service that knows it does not answer just now, so this page stays closed. "
            "Your access is not lost. Please try again in a minute.",
            links=[("Try again", product.practice_path)],
        )


def _new_intent() -> str:
    return secrets.token_hex(16)


def _next_look(session_id: str, request: Request) -> _Refresh | None:
    looks = _whole_number(request.query_params.get("looks")) or 0
    if looks >= len(REFRESH_SECONDS):
        return None
    return _Refresh(REFRESH_SECONDS[looks], f"/success?session_id={session_id}&looks={looks + 1}")


def _remember(session_id: str, page: Response, request: Request) -> Response:
    page.set_cookie(
        SESSION_COOKIE,
        session_id,
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return page


def _whole_number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch("[0-9]{1,3}", text) else None


async def _read_form(request: Request) -> dict[str, str]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return {name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
