"""The demo planet: a shop, a page after the payment and a page of questions, as a few static files.

In the browser they ask two public operations of Orrery and nothing else of it. They hold nothing back: a real
practice site asks `access/check` on its own server before it shows a page (decisions 3 and 11).
"""

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

WEB = Path(__file__).parents[1] / "web"
PAGES = {
    "/": "shop",
    "/success": "success",
    "/cancelled": "cancelled",
    "/practice/northwind/cloud-navigator": "practice",
    "/analytics": "analytics",
    "/admin": "admin",
}
"""The file of each page, by its address."""

_FILES = {
    path.name: path
    for path in (WEB / "tokens.css", WEB / "ground.css", *(WEB / "site").iterdir())
    if path.suffix in {".css", ".js", ".svg"}
}
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    # The address of the success page holds a session's id.
    "Referrer-Policy": "no-referrer",
}


def create_site() -> Starlette:
    """Return the site as an application to be mounted at `/`, behind the routes of the operations."""
    pages = [Route(address, _show) for address in PAGES]
    return Starlette(routes=[*pages, Route("/site/{name}", _file)], exception_handlers={404: _missing})


async def _show(request: Request) -> Response:
    return _page(PAGES[request.url.path])


async def _missing(_: Request, __: Exception) -> Response:
    return _page("missing", 404)


async def _file(request: Request) -> Response:
    if (found := _FILES.get(request.path_params["name"])) is None:
        raise HTTPException(404)
    return FileResponse(found, headers=_HEADERS)


def _page(name: str, status: int = 200) -> Response:
    return FileResponse(WEB / "site" / f"{name}.html", status, _HEADERS)
