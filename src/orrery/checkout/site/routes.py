"""What a site asks, and shows under `/guided/` on its own origin (decisions 46 and 48)."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, RedirectResponse, Response

from orrery.checkout.catalogue import Catalogue, ProductKey, is_slug
from orrery.checkout.site.cookie import ACCESS, cookie_name, sent_cookie, set_cookie
from orrery.checkout.site.forms import Forms, is_visit
from orrery.checkout.site.gate import AccessGate
from orrery.checkout.site.opening import OpenedAccess, Opening, SeenSession
from orrery.checkout.site.pages import HostedPage
from orrery.checkout.sites import BUTTON, CANCELLED, CHECKOUT, ENDED, GATE, LOST, OPEN, SUCCESS, Site
from orrery.edge.body import read_fields
from orrery.edge.client_address import ClientAddresses, rate_scopes
from orrery.edge.direct import DirectRoute
from orrery.edge.problem import Problem
from orrery.edge.problems import problems, show_errors
from orrery.edge.rate_limit import RateLimit, SharedLimit, too_many
from orrery.edge.routes import Routes
from orrery.edge.scripts import script_answer
from orrery.syntax.email_address import is_email_address, normal_email
from orrery.syntax.script import Script

_ANSWERS = {status: Response(status_code=status) for status in (204, 401, 403)}

_SLUG: dict[str, Any] = {"in": "path", "required": True, "schema": {"type": "string"}}

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Some web servers ask by the method of the visitor's request: the answer is the same."""

FORM_BODY = 4 * 1024
"""Largest form of a hosted page in bytes."""

_OWN_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x1f\x7f]*")
"""An address on the same site, decoded: a path that no browser takes for another host."""

_OF_STATUS = {403: "again", 404: "unsold", 429: "busy", **dict.fromkeys((400, 408, 413, 415, 422), "bad_form")}
_UNSOLD = frozenset({"not-configured", "not-preflighted"})

Answer = Callable[["PageRoutes", Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class SiteRoutes:
    """The routes of the access gate, and of the buy button."""

    gate: AccessGate
    button: Script = field(default_factory=partial(Script.of_file, "guided/buy.js"))

    def all(self) -> Routes:
        """Return all of them."""
        router = APIRouter(tags=["site"])
        router.add_api_route(
            f"{GATE}{{vendor_slug}}/{{cert_code}}",
            self.answer,
            methods=["GET"],
            status_code=204,
            response_class=Response,
            responses={401: {"description": "Unknown browser"}, 403: {"description": "No access"}} | problems(503),
            openapi_extra={"parameters": [_SLUG | {"name": name} for name in ("vendor_slug", "cert_code")]},
            summary="Ask whether a browser may see a product's pages (web servers)",
        )
        router.add_api_route(BUTTON, self.script, methods=["GET", "HEAD"], include_in_schema=False)
        direct = DirectRoute(f"{GATE}{{vendor_slug}}/{{cert_code}}", self.answer, METHODS)
        return Routes(public=[router], direct=[direct])

    async def answer(self, request: Request) -> Response:
        """Answer 204, 401 or 403 by the site's cookie, without a body; 503 when it is not known."""
        path: str = request.scope["path"]
        return _ANSWERS[await self.gate.status(path.removeprefix(GATE), request.scope["headers"])]

    async def script(self, request: Request) -> Response:
        """Return the script of the buy button."""
        return script_answer(request, self.button)


@dataclass(frozen=True, slots=True)
class Pages:
    """Shows the hosted pages, a page that names no product in the looks of the default site."""

    forms: Forms
    catalogue: Catalogue

    def page(
        self,
        request: Request,
        name: str,
        product: ProductKey | None = None,
        until: datetime | None = None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return the page of that name."""
        return _answer(replace(self._page(request, name, product), until=until), status, headers)

    def state(self, request: Request, seen: SeenSession) -> Response:
        """Return the page of a session's state."""
        page = replace(self._page(request, seen.state, seen.product), until=seen.until, age=seen.age)
        return _answer(page, 404 if seen.state == "unknown" else 200)

    def ask(self, request: Request, product: ProductKey, *, status: int = 200) -> Response:
        """Return the page with a button of ours for a product, whose form comes from a page of ours."""
        page = self._page(request, "buy", product)
        return _answer(replace(page, action=CHECKOUT, fields={**page.fields, **product.fields}), status)

    def lead_on(self, request: Request, product: ProductKey, url: str) -> Response:
        """Return the page that goes on to the payment page by itself, and by a link."""
        page = self._page(request, "paying", product)
        return _answer(replace(page, links={"pay": url}), headers={"Refresh": f"0; url={url}"})

    def sent(self, request: Request, product: ProductKey, named: bytes = ACCESS) -> bytes:
        """Return the cookie that a browser sent to the product's site, or nothing."""
        return sent_cookie(request.headers.raw, cookie_name(self.catalogue.site_of(product), named))

    def show_errors(
        self, request: Request, product: ProductKey | None = None, unavailable: str = "unstarted"
    ) -> None:
        """Let a page say what went wrong with this request, if anything does: `unavailable`, if we fail."""
        show_errors(request, partial(self._failed, request, product, unavailable))

    def _failed(
        self, request: Request, product: ProductKey | None, unavailable: str, problem: Problem
    ) -> Response:
        of_status = _OF_STATUS | {503: unavailable}
        name = "unsold" if problem.tag in _UNSOLD else of_status.get(problem.status, unavailable)
        # The answer to a bug does not pass what sets this for other answers.
        headers = {**(problem.headers or {}), "Cache-Control": "no-store"}
        return self.page(request, name, product, status=problem.status, headers=headers)

    def _page(self, request: Request, name: str, product: ProductKey | None) -> HostedPage:
        product = product or product_of(request)
        site = self.catalogue.site_of(product) if product else self.catalogue.default
        title = self.catalogue.title_of(product) if product else None
        fields = {"form_token": self.forms.token()}
        links = self._links(request, product, site)
        return HostedPage(name=name, site=site, product=title, links=links, fields=fields)

    def _links(self, request: Request, product: ProductKey | None, site: Site) -> Mapping[str, str]:
        here = request.url
        # Web servers write the path as it was asked for, where a plus is no space.
        back = QueryParams(here.query.replace("+", "%2B")).get("back", "")
        again = "" if here.path == CHECKOUT else f"{here.path}?{here.query}" if here.query else here.path
        return {
            "home": "/",
            "practice": product.within(site.practice_url) if product else "",
            "lost": f"{LOST}?product={product.name}" if product else LOST,
            "back": quote(back, safe="%/?&=:@!$'()*+,;~") if _OWN_PATH.fullmatch(back) else "",
            "again": again,
        }


@dataclass(frozen=True, slots=True)
class PageRoutes:
    """The routes of the hosted pages."""

    opening: Opening
    pages: Pages
    addresses: ClientAddresses
    limit: RateLimit
    emails: SharedLimit

    def all(self) -> Routes:
        """Return all of them."""
        router = APIRouter()
        answers: tuple[tuple[str, str, Answer], ...] = (
            ("GET", SUCCESS, PageRoutes.success),
            ("POST", SUCCESS, PageRoutes.open_first),
            ("GET", CANCELLED, PageRoutes.cancelled),
            ("GET", ENDED, PageRoutes.in_browser),
            ("GET", OPEN, PageRoutes.link),
            ("POST", OPEN, PageRoutes.open),
            ("GET", LOST, PageRoutes.lost),
            ("POST", LOST, PageRoutes.send),
        )
        for method, path, answer in answers:
            methods = [method, "HEAD"] if method == "GET" else [method]
            router.add_api_route(path, self._limited(answer), methods=methods, include_in_schema=False)
        return Routes(public=[router])

    def _limited(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            self.pages.show_errors(request, unavailable="away")
            if wait := self.limit.wait(*rate_scopes(self.addresses.of(request))):
                raise too_many(wait)
            return await answer(self, request)

        return answered

    async def success(self, request: Request) -> Response:
        """Show what became of a session, and open it in the first browser; without one, what is open here."""
        session_id = request.query_params.get("session_id")
        if session_id is None:
            return await self.in_browser(request)
        seen = await self.opening.seen(session_id)
        if seen.state == "granted" and seen.product:
            sent = self.pages.sent(request, seen.product)
            if request.method == "POST" or (request.method == "GET" and is_visit(request.headers)):
                if opened := await self.opening.open_first(session_id, sent):
                    return _goes_on(opened)
            elif await self.opening.may_be_first(session_id, sent):
                seen = replace(seen, state="paid")
        return self.pages.state(request, seen)

    async def open_first(self, request: Request) -> Response:
        """Open a session in the first browser by the button of a page that no person was known to look at."""
        _ = await self._form(request)
        return await self.success(request)

    async def in_browser(self, request: Request) -> Response:
        """Show whether a product is open in this browser, as the access gate answers; if not, why."""
        if (product := product_of(request)) is None:
            return self.pages.page(request, "closed")
        sent = self.pages.sent(request, product)
        if not sent and "opened" in request.query_params:
            return self.pages.page(request, "no_cookie")
        found = await self.opening.admitted(product, sent)
        if found.until is None:
            return self.pages.page(request, "full" if found.state == "full" else "closed")
        renewed = {"Set-Cookie": set_cookie(self.pages.catalogue.site_of(product), sent)}
        return self.pages.page(request, "opened", until=found.until, headers=renewed)

    async def cancelled(self, request: Request) -> Response:
        """Tell a buyer who turned back that nothing was charged."""
        return self.pages.page(request, "cancelled")

    async def link(self, request: Request) -> Response:
        """Show what a link in an e-mail opens: programs that look for harmful links follow it, too."""
        linked = await self.opening.linked(request.query_params.get("link", ""))
        if linked is None:
            return self.pages.page(request, "gone", status=404)
        record, end = linked
        if end is None:
            return self.pages.page(request, "ended", record.product, record.revoked_at or record.expires_at)
        return self.pages.page(request, "link", record.product, end)

    async def open(self, request: Request) -> Response:
        """Open the access of a link in this browser."""
        _ = await self._form(request)
        linked = await self.opening.linked(request.query_params.get("link", ""))
        if linked is None or linked[1] is None:
            return await self.link(request)
        product = linked[0].product
        opened = await self.opening.open_by_link(linked[0], self.pages.sent(request, product))
        return _goes_on(opened) if opened else self.pages.page(request, "full", product, status=403)

    async def lost(self, request: Request) -> Response:
        """Ask for the address that a buyer bought with."""
        return self.pages.page(request, "lost")

    async def send(self, request: Request) -> Response:
        """Send the link to the address on file; the answer is the same for every address, and as fast."""
        form = await self._form(request)
        # Only now, since a page elsewhere can make a reader's browser send a form.
        if wait := await self.emails.wait(*rate_scopes(self.addresses.of(request))):
            raise too_many(wait)
        email = normal_email(form.get("email", ""))
        if is_email_address(email):
            self.opening.send_emails(email)
        return self.pages.page(request, "sent")

    async def _form(self, request: Request) -> Mapping[str, str]:
        """Return the fields of a form that was on a page of ours; raise 403, and what `read_fields` raises."""
        fields = await read_fields(request, FORM_BODY)
        if not self.pages.forms.are_own(request.headers, fields.get("form_token", "")):
            raise Problem(403, "refused", "The form was on no page of ours.")
        return fields


def _goes_on(opened: OpenedAccess) -> Response:
    """Return the way to the page of an access that is open now, at an address without an id.

    Its `opened` means that a cookie was given: a browser that comes without one refuses cookies.
    """
    to = f"{SUCCESS}?product={opened.product.name}&opened"
    return RedirectResponse(to, 303, {"Set-Cookie": opened.cookie})


def _answer(page: HostedPage, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return HTMLResponse(page.html(), status, {**page.headers(), **(headers or {})})


def product_of(request: Request) -> ProductKey | None:
    """Return the product that an address names as `product=vendor/code`."""
    vendor, _, cert = request.query_params.get("product", "").partition("/")
    return ProductKey("cert", cert, vendor) if is_slug(vendor) and is_slug(cert) else None
