"""Pages for people, and boards: what a stand-in shows, and its levers, declared as data."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import cast
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from orrery.sandbox.ground import Document
from orrery.syntax.web_file import web_template

WEB = Path(__file__).parent.parent / "web" / "sandbox"
"""Templates and styles of the sandbox's pages."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_NO_DECIMALS = {"jpy", "krw", "vnd", "clp"}


def money(amount: int, currency: str) -> str:
    """Return an amount in the smallest unit as people write it: `49.00 USD`."""
    figure = f"{amount:,}" if currency in _NO_DECIMALS else f"{amount / 100:,.2f}"
    return f"{figure} {currency.upper()}"


def utc_text(seconds: float) -> str:
    """Return a Unix time as people read it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def render(template: str, status: int = 200, **values: object) -> Response:
    page = web_template(f"sandbox/{template}").render(values, money=money, utc_text=utc_text)
    return HTMLResponse(page, status, dict(_HEADERS))


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form, one value each."""
    return dict(parse_qsl((await request.body()).decode(errors="replace"), keep_blank_values=True))


async def _tokens(_: Request) -> Response:
    return FileResponse(WEB.parent / "tokens.css")


def assets() -> Mount:
    """Serve the styles: the house's tokens and the sandbox's own."""
    tokens = Route("/tokens.css", _tokens)
    return Mount("/assets", routes=[tokens, Mount("/", StaticFiles(directory=WEB / "assets"))])


Fields = Mapping[str, str]
"""The fields of a submitted form, one value each."""


Act = Callable[[Document], object]
"""Does what a lever does with its values, some of which are in its address.

It returns, or lets be awaited, what a program is answered: None is all that is known. `KeyError`, `TypeError` and
`ValueError` give the reason why it does nothing.
"""

_SCRIPTS = "; script-src 'self'; connect-src 'self'; form-action 'self'"


@dataclass(frozen=True, slots=True)
class Board:
    """A page at `address` for people, and the levers under it for both.

    `known` returns everything that can be known: a program is answered with it, and `template` shows it. `levers`
    are named by method and address: `POST /_clock`. Forms know no other method.
    """

    address: str
    template: str
    known: Callable[[], object]
    levers: Mapping[str, Act] = field(default_factory=dict[str, Act])

    def routes(self) -> list[Route]:
        levers = [(*name.split(" "), act) for name, act in self.levers.items()]
        pulled = [Route(path, partial(self._pull, act), methods=[method]) for method, path, act in levers]
        return [Route(self.address, self._show, methods=["GET"]), *pulled]

    async def _show(self, request: Request) -> Response:
        return JSONResponse(self.known()) if _by(request, "application/json") else self._page()

    async def _pull(self, act: Act, request: Request) -> Response:
        by_a_person = request.method == "POST" and _by(request, "text/html")
        try:
            answer = act(await _given(request))
            answer = await cast("Awaitable[object]", answer) if isawaitable(answer) else answer
        except (KeyError, TypeError, ValueError) as error:
            why = f"{error.args[0]} is missing." if isinstance(error, KeyError) else str(error)
            return self._page(why, 400) if by_a_person else JSONResponse({"error": why}, 400)
        if by_a_person:
            return RedirectResponse(self.address, 303)
        return JSONResponse(self.known() if answer is None else answer)

    def _page(self, problem: str = "", status: int = 200) -> Response:
        page = render(self.template, status, problem=problem, known=self.known())
        page.headers["Content-Security-Policy"] += _SCRIPTS
        return page


def switched_off(address: str, name: str, needs: str) -> Route:
    """Return the page of a stand-in that this sandbox was started without."""

    async def show(_: Request) -> Response:
        return render("off.html", 404, name=name, needs=needs)

    return Route(address, show, methods=["GET"])


async def _given(request: Request) -> Document:
    """Return the values of a lever: JSON, or the fields of a form; those in the address are above both."""
    text = await request.body()
    given: object = await form_of(request)
    if "json" in request.headers.get("content-type", ""):
        given = json.loads(text or b"{}")
    if not isinstance(given, dict):
        raise TypeError("A lever's values are a JSON object.")
    return {**request.query_params, **cast("Document", given), **request.path_params}


def _by(request: Request, kind: str) -> bool:
    return kind in request.headers.get("accept", "")
