"""Pages for people: templates, headers, and the choice between HTML and JSON."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

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


_TEMPLATES = Environment(
    loader=FileSystemLoader(WEB), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_TEMPLATES.filters |= {"utc_text": utc_text}


def render(template: str, status: int = 200, **values: object) -> Response:
    return HTMLResponse(_TEMPLATES.get_template(template).render(values), status, dict(_HEADERS))


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
