"""The demo planet: a shop and a page of questions, as a few static files.

It does what the web server of a static site does: it asks the access gate before it shows the questions, and leads
a browser without access to the hosted pages.
"""

from http import HTTPStatus
from pathlib import Path

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.trust import WELL_KNOWN

WEB = Path(__file__).parents[1] / "web"
PAGES = {
    "/": "shop",
    "/analytics": "analytics",
    "/admin": "admin",
}
"""The file of each page that is open to everybody, by its address."""

PRODUCT = "northwind/cloud-navigator"
PRACTICE = f"/practice/{PRODUCT}"
_GATE = f"/guided/api/gate/{PRODUCT}"
_WAYS = {401: f"/guided/lost?product={PRODUCT}&back={PRACTICE}", 403: f"/guided/ended?product={PRODUCT}"}
"""Where a browser without access is led, by the gate's answer."""

_FILES = {
    path.name: path
    for path in (WEB / "tokens.css", WEB / "ground.css", *(WEB / "site").iterdir())
    if path.suffix in {".css", ".js", ".svg"}
}
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "Referrer-Policy": "no-referrer",
}


def create_site(service: str) -> Starlette:
    """Return the site as an application to be mounted at `/`, behind the routes of the `service` that it asks."""

    async def practise(request: Request) -> Response:
        asked = {"Cookie": request.headers.get("cookie", "")}
        async with httpx2.AsyncClient(
            base_url=service, timeout=5, trust_env=False, verify=WELL_KNOWN.web
        ) as client:
            status = (await client.get(_GATE, headers=asked)).status_code
        if status == HTTPStatus.NO_CONTENT:
            return _page("practice") if request.url.path == PRACTICE else _page("missing", 404)
        return RedirectResponse(_WAYS[status], 303) if status in _WAYS else _page("away", 503)

    # What is not there has the gate's answer, too: a browser without access does not learn what is there.
    gated = [Route(PRACTICE, practise), Route(f"{PRACTICE}/{{file:path}}", practise)]
    routes = [*(Route(address, _show) for address in PAGES), *gated]
    return Starlette(routes=[*routes, Route("/site/{name}", _file)], exception_handlers={404: _missing})


async def _show(request: Request) -> Response:
    return _page(PAGES[request.url.path])


async def _missing(_: Request, __: Exception) -> Response:
    return _page("missing", 404)


async def _file(request: Request) -> Response:
    if (found := _FILES.get(request.path_params["name"])) is None:
        raise HTTPException(404)
    return FileResponse(found, headers=_HEADERS)


def _page(name: str, status: int = 200) -> Response:
    kept = {"Cache-Control": "private, no-cache"} if name == "practice" else {}
    return FileResponse(WEB / "site" / f"{name}.html", status, _HEADERS | kept)
