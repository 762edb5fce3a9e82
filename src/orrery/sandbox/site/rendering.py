"""Templates, sample questions and static files of the site."""

import hashlib
import mimetypes
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict
from starlette.responses import HTMLResponse, Response

from orrery.sandbox.site.config import SiteConfig, SiteProduct

WEB = Path(__file__).parents[2] / "web"
ASSETS = (WEB / "tokens.css", WEB / "ground.css", *sorted((WEB / "site" / "static").iterdir()))
FOR_EVER = "public, max-age=31536000, immutable"
JUST_NOW = "private, no-store"


class Question(BaseModel):
    """A sample question: `right` is the index of the right choice, `why` the reason shown with the verdict."""

    model_config = ConfigDict(strict=True, frozen=True)

    ask: str
    choices: list[str]
    right: int
    why: str


class _QuestionFile(BaseModel):
    questions: list[Question]


class Renderer:
    """Turns templates into pages, and serves the static files under an address that names their content."""

    def __init__(self, config: SiteConfig) -> None:
        self._everywhere = {"products": config.products, "tools": read_tools(), "asset": self._address}
        self._headers = {
            "Cache-Control": JUST_NOW,
            "Content-Security-Policy": _policy(config.payment_origin),
            # The address of the success page holds a session's id.
            "Referrer-Policy": "no-referrer",
        }
        self._assets = {path.name: path.read_bytes() for path in ASSETS}
        self._edition = hashlib.sha256(b"".join(self._assets.values())).hexdigest()[:12]
        self._templates = Environment(
            loader=FileSystemLoader(WEB / "site" / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["long_date"] = long_date

    def page(
        self, template: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
    ) -> HTMLResponse:
        """Render a page. A page may show one visitor's access, so no cache may store it."""
        content = self._templates.get_template(template).render(self._everywhere, **values)
        return HTMLResponse(content, status, {**self._headers, **(headers or {})})

    def asset(self, edition: str, name: str) -> Response | None:
        """Return a static file, or None when there is none of that name in that edition."""
        if edition != self._edition or name not in self._assets:
            return None
        media_type = mimetypes.guess_type(name)[0]
        return Response(self._assets[name], media_type=media_type, headers={"Cache-Control": FOR_EVER})

    def _address(self, name: str) -> str:
        return f"/site/{self._edition}/{name}"


def _policy(payment_origin: str | None) -> str:
    policy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"
    return f"{policy}; form-action 'self' {payment_origin}" if payment_origin else policy


def read_tools() -> list[object]:
    """Return the counters of single tools: none, since they were removed (spec 2, What the service does 7)."""
    return tomllib.loads((WEB / "site" / "data" / "tool_counters.toml").read_text("utf-8"))["tools"]


def read_questions(product: SiteProduct) -> list[Question]:
    """Return the sample questions of a product: none when none are written."""
    path = WEB / "site" / "questions" / product.vendor_slug / f"{product.cert_code}.toml"
    if not path.is_file():
        return []
    return _QuestionFile.model_validate(tomllib.loads(path.read_text("utf-8"))).questions


def long_date(time: datetime) -> str:
    """Return a date as `21 November 2027`, in UTC."""
    day = time.astimezone(UTC)
    return f"{day.day} {day:%B %Y}"
