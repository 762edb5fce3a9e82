"""The owner's page: the state of every part, in a browser on this machine (decision 42).

It only reads, needs no script, and loads nothing besides itself. Panels that need attention come first.
"""

import asyncio
import base64
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from orrery.edge.auth import AdminBasic
from orrery.errors import OrreryError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.panels import Panel, PanelSource, Tone, utc_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

DEADLINE = 5.0
"""Seconds that one panel may take; the others do not wait longer for it."""

MOST_ROWS = 12
"""How many rows of a panel are open; the others unfold."""

_ASK = 'Basic realm="Orrery, for the owner", charset="UTF-8"'
_SIGNS: dict[Tone, str] = {"bad": "Act now", "attention": "Have a look", "good": "Well", "plain": ""}
_URGENCY: tuple[Tone, ...] = ("bad", "attention")
_STYLES = ("tokens.css", "ground.css", "owner/owner.css", "owner/panels.css")
_ORBITS = (26, 42, 58, 74)
_GOLDEN_ANGLE = 137.5
_SPECIAL = re.compile(
    r"`(?P<code>[^`]+)`|(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\dZ)?)"
    r"|(?P<id>\b((in|fc)-[0-9a-f]{10,12}|[0-9a-f]{12})\b)|(?P<seam>[/_])"
)
_FIGURE = re.compile(r"-?\d[\d.,]*|-")


class OwnerPage:
    """Lets the owner in, asks every part how it is, and shows that."""

    def __init__(
        self,
        password: AdminBasic,
        clock: Clock,
        sources: Sequence[PanelSource],
        *,
        mode: str,
        within: Callable[[str], str] = str,
    ) -> None:
        """`mode` is live or sandbox; among equally urgent panels the order of `sources` stays.

        `within` puts references in the place of session ids (decision 46).
        """
        self._password = password
        self._clock = clock
        self._sources = sources
        self._mode = mode
        self._within = within

    def router(self) -> APIRouter:
        """Return the route of the page, for the private listener."""
        router = APIRouter()
        router.add_api_route("/owner", self.answer)
        return router

    async def answer(self, request: Request) -> Response:
        """Return the page, 401 without the admin password, or 503 when none is configured."""
        if not self._password.usable:
            return _refusal(503, "This page is closed: no admin password is configured.")
        if not await self._password.admits(request):
            return _refusal(401, "The admin password opens this page.", {"WWW-Authenticate": _ASK})
        read = await asyncio.gather(*map(_read, self._sources))
        panels = by_urgency(_referring(panel, self._within) for panel in read)
        values = {"panels": panels, "planets": _planets(panels), "now": self._clock.now(), "mode": self._mode}
        return _page(200, "page.html", _SHOWING | values)


def by_urgency(panels: Iterable[Panel]) -> list[Panel]:
    """Return what needs the owner first, the worst at the top; the rest stays in its order."""
    return sorted(panels, key=lambda panel: _rank(panel.tone))


def overall(panels: Iterable[Panel]) -> str:
    """Return the headline of the page."""
    wanting = sum(panel.count for panel in panels if panel.tone in _URGENCY)
    if not wanting:
        return "All well"
    return "1 thing needs attention" if wanting == 1 else f"{wanting} things need attention"


def _rank(tone: Tone) -> int:
    return _URGENCY.index(tone) if tone in _URGENCY else len(_URGENCY)


async def _read(source: PanelSource) -> Panel:
    try:
        async with asyncio.timeout(DEADLINE):
            return await source.panel()
    except OrreryError as error:
        return _unread(source, str(error))
    except TimeoutError:
        return _unread(source, f"There was no answer within {DEADLINE:g} s.")
    except Exception as error:  # a bug in one panel must not hide the others
        log.exception("panel crashed", panel=source.title)
        return _unread(source, f"Unexpected {type(error).__name__}.")


def _referring(panel: Panel, within: Callable[[str], str]) -> Panel:
    rows = tuple(tuple(map(within, row)) for row in panel.rows)
    return replace(panel, headline=within(panel.headline), todo=within(panel.todo), rows=rows)


def _unread(source: PanelSource, why: str) -> Panel:
    return Panel(
        source.title, f"This could not be read: {why}", "bad", "Look with `orrery doctor`, and in the log."
    )


def _refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return _page(status, "refused.html", {"sentence": sentence}, headers)


def _page(
    status: int, template: str, values: Mapping[str, object], headers: dict[str, str] | None = None
) -> Response:
    style = "\n".join(map(_file, _STYLES))
    content = _templates().get_template(template).render(values, style=style)
    return HTMLResponse(content, status, headers={**_headers(style), **(headers or {})})


def _headers(style: str) -> dict[str, str]:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )
    return {"Cache-Control": "private, no-store", "Content-Security-Policy": policy}


@cache
def _file(name: str) -> str:
    return files("orrery").joinpath("web", name).read_text(encoding="utf-8")


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, select_autoescape  # noqa: PLC0415  it is needed here only

    loader = PackageLoader("orrery", "web/owner")
    return Environment(loader=loader, autoescape=select_autoescape(), trim_blocks=True, lstrip_blocks=True)


def _words(text: str) -> "Markup":
    """Return a panel's text with its moments, commands and ids marked up; it may break at a slash or low line."""
    from markupsafe import Markup, escape  # noqa: PLC0415  it is needed here only

    parts: list[Markup] = []
    end = 0
    for found in _SPECIAL.finditer(text):
        parts += [escape(text[end : found.start()]), _special(found)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _special(found: re.Match[str]) -> "Markup":
    from markupsafe import Markup  # noqa: PLC0415  it is needed here only

    if found["code"]:
        return Markup("<code>{}</code>").format(found["code"])
    if found["id"]:
        return Markup('<span class="id">{}</span>').format(found["id"])
    if found["seam"]:
        return Markup("{}<wbr>").format(found["seam"])
    try:
        return _time(datetime.fromisoformat(found["at"].removesuffix("Z")).replace(tzinfo=UTC))
    except ValueError:
        return Markup("{}").format(found["at"])


def _time(at: datetime) -> "Markup":
    from markupsafe import Markup  # noqa: PLC0415  it is needed here only

    at = at.astimezone(UTC)
    return Markup('<time datetime="{}">{} {:%b %Y, %H:%M}</time>').format(utc_text(at), at.day, at)


def _figures(panel: Panel) -> list[bool]:
    """Return for each column whether all of its cells are figures, which are aligned right."""
    columns = zip(*panel.rows, strict=True)
    return [all(map(_FIGURE.fullmatch, cells)) and set(cells) != {"-"} for cells in columns]


def _planets(panels: Sequence[Panel]) -> list[tuple[str, str, Tone]]:
    """Return the position of each panel's planet in the picture, which is decoration only."""
    placed: list[tuple[str, str, Tone]] = []
    on_an_orbit = math.ceil(len(panels) / len(_ORBITS))
    for number, panel in enumerate(panels):
        turn, orbit = divmod(number, len(_ORBITS))
        angle = math.radians(orbit * _GOLDEN_ANGLE - 40 + turn * 360 / on_an_orbit)
        x, y = 120 + _ORBITS[orbit] * math.cos(angle), 80 + _ORBITS[orbit] * math.sin(angle)
        placed.append((f"{x:.1f}", f"{y:.1f}", panel.tone))
    return placed


def _heading(column: str) -> str:
    """Return a column's heading with a capital."""
    return column[:1].upper() + column[1:]


_SHOWING: dict[str, object] = {
    "figures": _figures,
    "heading": _heading,
    "most_rows": MOST_ROWS,
    "orbits": _ORBITS,
    "overall": overall,
    "signs": _SIGNS,
    "time": _time,
    "urgent": _URGENCY,
    "words": _words,
}
"""The names that the page's templates use."""
