"""The demo's sites: shops and pages of questions, each under its own name of this machine.

They do what the web server of a static site does: they ask the access gate before they show the questions, and
lead a browser without access to the hosted pages. What they sell and say is in `web/site/sites.toml`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.syntax.web_file import web_file, web_template
from orrery.trust import WELL_KNOWN

WEB = Path(__file__).parents[1] / "web"

_FILES = {
    path.name: path
    for path in (*WEB.glob("*.css"), *(WEB / "site").iterdir())
    if path.suffix in {".css", ".js", ".svg"}
}
_STYLES = {"missing": "panel", "away": "panel", "analytics": "live", "admin": "live"}
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True)
class DemoProduct:
    """What a site sells, at `shop`; `price` is in the smallest unit of its currency."""

    vendor: str
    cert: str
    title: str
    price_id: str
    price: int
    currency: str
    questions: Sequence[Mapping[str, Any]]
    shop: str

    @property
    def name(self) -> str:
        """Vendor and code."""
        return f"{self.vendor}/{self.cert}"

    @property
    def practice(self) -> str:
        """The path of its questions."""
        return f"/practice/{self.name}"

    @property
    def amount(self) -> str:
        """Its price as a shop writes it."""
        return f"{self.price / 100:g} {self.currency.upper()}"


@dataclass(frozen=True, slots=True)
class DemoSite:
    """A site under a host of this machine; a request for any other host is one for the first."""

    host: str
    name: str
    language: str
    colour: str
    seller: str
    words: Mapping[str, Any]
    products: Sequence[DemoProduct]

    def page(self, name: str, at: str = "", product: DemoProduct | None = None) -> str:
        """Return a page of this site at a path; one that is of no product has those of the first in its bar."""
        filled = {"site": self, "words": self.words, "product": product or self.products[0], "at": at}
        return web_template(f"site/{name}.html").render(filled, style=_STYLES.get(name, name))

    def open_pages(self) -> Mapping[str, str]:
        """Return the pages that are open to everybody, by their paths."""
        shops: dict[str, str] = {}
        for one in self.products:
            shops[one.shop] = shops[f"/shop/{one.name}"] = self.page("shop", one.shop, one)
        return shops | {path: self.page(path[1:], path) for path in ("/analytics", "/admin")}


@cache
def sites() -> Sequence[DemoSite]:
    """Return the sites."""
    found = tomllib.loads(web_file("site/sites.toml"))
    return [
        DemoSite(**one | {"products": _products(one["products"]), "words": found["words"][one["language"]]})
        for one in found["sites"]
    ]


def _products(given: Sequence[Mapping[str, Any]]) -> list[DemoProduct]:
    """Return what a site sells; the first is on the front page."""
    first, *more = given
    others = [DemoProduct(**one, shop=f"/shop/{one['vendor']}/{one['cert']}") for one in more]
    return [DemoProduct(**first, shop="/"), *others]


def create_site(service: str) -> Starlette:
    """Return the sites as an application to be mounted at `/`, behind the routes of the `service` they ask."""
    pages = {site.host: site.open_pages() for site in sites()}

    async def show(request: Request) -> Response:
        found = pages[_site(request).host].get(request.url.path)
        return await _missing(request) if found is None else HTMLResponse(found, headers=_HEADERS)

    async def practise(request: Request) -> Response:
        site, path = _site(request), request.url.path
        product = next((one for one in site.products if f"{path}/".startswith(f"{one.practice}/")), None)
        if product is None:
            return await _missing(request)
        asked = {"Cookie": request.headers.get("cookie", "")}
        async with httpx2.AsyncClient(
            base_url=service, timeout=5, trust_env=False, verify=WELL_KNOWN.web
        ) as client:
            status = (await client.get(f"/guided/api/gate/{product.name}", headers=asked)).status_code
        if led := _led(status, product):
            return RedirectResponse(led, 303)
        # What is not there has the gate's answer, too: a browser without access does not learn what is there.
        if status == HTTPStatus.NO_CONTENT and path != product.practice:
            return await _missing(request)
        name, answer = ("practice", 200) if status == HTTPStatus.NO_CONTENT else ("away", 503)
        kept = _HEADERS | {"Cache-Control": "private, no-cache"}
        return HTMLResponse(site.page(name, path, product), answer, kept)

    routes = [
        Route("/practice/{file:path}", practise),
        Route("/site/{name}", _file),
        Route("/{page:path}", show),
    ]
    return Starlette(routes=routes, exception_handlers={404: _missing})


def _led(status: int, product: DemoProduct) -> str:
    """Return where a browser without access is led, by the gate's answer."""
    ways = {401: f"lost?product={product.name}&back={product.practice}", 403: f"ended?product={product.name}"}
    return f"/guided/{ways[status]}" if status in ways else ""


def _site(request: Request) -> DemoSite:
    first, *others = sites()
    return next((one for one in others if one.host == request.url.hostname), first)


async def _missing(request: Request, _: Exception | None = None) -> Response:
    return HTMLResponse(_site(request).page("missing"), 404, _HEADERS)


async def _file(request: Request) -> Response:
    if (found := _FILES.get(request.path_params["name"])) is None:
        raise HTTPException(404)
    return FileResponse(found, headers=_HEADERS)
