"""The owner's page: the state of every part, in a browser on this machine (decision 42).

It needs no script, and loads nothing besides itself. All that it changes is what the owner puts aside or brings
back. What leads stays on top; then comes what needs attention. Folded, the page renews itself; unfolded, it does
not, so that no reader loses the place.
"""

import asyncio
import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from orrery.edge.auth import AdminBasic, is_from_own_page
from orrery.edge.body import read_body
from orrery.errors import OrreryError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.panels import Link, Panel, PanelSource, Tone, utc_text
from orrery.syntax.web_file import web_file, web_template

if TYPE_CHECKING:
    from markupsafe import Markup

DEADLINE = 5.0
"""Seconds that one panel may take; the others do not wait longer for it."""

MOST_ROWS, FEW_ROWS = 12, 4
"""How many rows of a panel that leads, and of another one, are shown while the page is folded."""

RENEWED_EVERY = 60
"""Seconds after which the folded page renews itself."""

BUTTONS = "/owner/problems"
"""Where the buttons of the page lead."""

MOST_FORM = 4096
"""Bytes that the form of a button may have."""

Presses = Mapping[str, Callable[[str, str], Awaitable[object]]]
"""What the buttons do, by their `does`, to the problem with a key."""

_LINE_WIDTH, _LINE_HEIGHT = 300, 60

_ASK = 'Basic realm="Orrery, for the owner", charset="UTF-8"'
_SIGNS: dict[Tone, str] = {"bad": "Act now", "attention": "Have a look", "good": "Well", "plain": ""}
_URGENCY: tuple[Tone, ...] = ("bad", "attention")
_STYLES = ("tokens.css", "ground.css", "owner/owner.css", "owner/panels.css")
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
        presses: Presses,
    ) -> None:
        """`mode` is live or sandbox; among equally urgent panels the order of `sources` stays.

        `within` puts references in the place of session ids (decision 46).
        """
        self._password = password
        self._clock = clock
        self._sources = sources
        self._mode = mode
        self._within = within
        self._presses = presses

    def router(self) -> APIRouter:
        """Return the routes of the page, for the private listener: its front leads here."""
        router = APIRouter()
        router.add_api_route("/owner", self.answer)
        router.add_api_route(BUTTONS, self.press, methods=["POST"])
        router.add_api_route("/", _lead_here)
        return router

    async def answer(self, request: Request) -> Response:
        """Return the page, 401 without the admin password, or 503 when none is configured."""
        if locked := await self._locked(request):
            return locked
        read = await asyncio.gather(*map(_read, self._sources))
        shown = [
            (one.leads, _referring(panel, self._within))
            for one, panel in zip(self._sources, read, strict=True)
            if panel
        ]
        is_open = "open" in request.query_params
        values = {
            "leading": [panel for leads, panel in shown if leads],
            "others": by_urgency(panel for leads, panel in shown if not leads),
            "now": self._clock.now(),
            "mode": self._mode,
            "here": request.url.path,
            "is_open": is_open,
            "token": self._password.forms.of(self._clock.now()),
        }
        # With the address: at one with a fragment a browser would only go to that again.
        renewed = {} if is_open else {"Refresh": f"{RENEWED_EVERY}; url={request.url.path}"}
        return _page(200, "page.html", _SHOWING | values, renewed, forms="'self'")

    async def press(self, request: Request) -> Response:
        """Do what a button is for and lead back to its place; refuse what the page itself does not send."""
        if not is_from_own_page(request):
            return _refused(403, "Only the page itself may ask for that: open it, and press its button.")
        if locked := await self._locked(request):
            return locked
        form = dict(parse_qsl((await read_body(request, MOST_FORM)).decode(errors="replace")))
        if not self._password.forms.have(form.get("token", ""), self._clock.now()):
            return _refused(403, "The page with this button is too old: open it again.")
        act, key = self._presses.get(form.get("does", "")), form.get("key", "")
        if act is None:
            return _refused(422, "The page has no such button.")
        try:
            _ = await act(key, form.get("extent", ""))
        except OrreryError as error:
            return _refused(error.http_status, str(error))
        return RedirectResponse(f"/owner?open#{_place(key)}", 303)

    async def _locked(self, request: Request) -> Response | None:
        if not self._password.usable:
            return _refused(503, "This page is closed: no admin password is configured.", is_locked=True)
        if not await self._password.admits(request):
            ask = {"WWW-Authenticate": _ASK}
            return _refused(401, "The admin password opens this page.", ask, is_locked=True)
        return None


async def _lead_here() -> Response:
    return RedirectResponse("/owner", 303)


def by_urgency(panels: Iterable[Panel]) -> list[Panel]:
    """Return what needs the owner first, the worst at the top; the rest stays in its order."""
    return sorted(panels, key=lambda panel: _rank(panel.tone))


def overall(panels: Sequence[Panel]) -> str:
    """Return the headline of the page."""
    wanting = sum(panel.count for panel in panels if panel.tone in _URGENCY)
    aside = sum(panel.aside for panel in panels)
    if not wanting and not aside:
        return "All well"
    few = {0: "Nothing needs attention", 1: "1 thing needs attention"}
    attention = few.get(wanting, f"{wanting} things need attention")
    return f"{attention}, {aside} acknowledged" if aside else attention


def _rank(tone: Tone) -> int:
    return _URGENCY.index(tone) if tone in _URGENCY else len(_URGENCY)


async def _read(source: PanelSource) -> Panel | None:
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
    rows = tuple(tuple(within(one) if isinstance(one, str) else one for one in row) for row in panel.rows)
    return replace(panel, headline=within(panel.headline), todo=within(panel.todo), rows=rows)


def _unread(source: PanelSource, why: str) -> Panel:
    return Panel(
        source.title, f"This could not be read: {why}", "bad", "Look with `orrery doctor`, and in the log."
    )


def _refused(
    status: int, sentence: str, headers: dict[str, str] | None = None, *, is_locked: bool = False
) -> Response:
    return _page(status, "refused.html", {"sentence": sentence, "is_locked": is_locked}, headers)


def _page(
    status: int,
    template: str,
    values: Mapping[str, object],
    headers: dict[str, str] | None = None,
    forms: str = "'none'",
) -> Response:
    style = "\n".join(map(web_file, _STYLES))
    content = web_template(f"owner/{template}").render(values, style=style)
    return HTMLResponse(content, status, headers={**_headers(style, forms), **(headers or {})})


def _headers(style: str, forms: str) -> dict[str, str]:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        f"form-action {forms}; frame-ancestors 'none'; base-uri 'none'"
    )
    # Without a referrer a browser would send a form with the origin `null`.
    return {
        "Cache-Control": "private, no-store",
        "Content-Security-Policy": policy,
        "Referrer-Policy": "same-origin",
    }


def _place(key: str) -> str:
    """Return the id of a problem's button."""
    return f"problem-{quote(key, safe='')}"


def _words(text: str | Link) -> "Markup":
    """Return a panel's text with its moments, commands and ids marked up; it may break at a slash or low line."""
    from markupsafe import Markup, escape  # noqa: PLC0415  it is needed here only

    if isinstance(text, Link):
        return Markup('<a href="{}" rel="noreferrer">{}</a>').format(text.address, _words(text.text))
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
    return [
        all(isinstance(one, str) and _FIGURE.fullmatch(one) for one in cells) and set(cells) != {"-"}
        for cells in columns
    ]


def line(days: Sequence[int]) -> tuple[str, float]:
    """Return the points of a line through the days, and the height of nothing."""
    low, high = min(0, *days), max(1, *days)
    heights = [_LINE_HEIGHT * (high - one) / (high - low) for one in (*days, 0)]
    step = _LINE_WIDTH / max(len(days) - 1, 1)
    return " ".join(f"{number * step:.1f},{height:.1f}" for number, height in enumerate(heights[:-1])), heights[-1]


def _heading(column: str) -> str:
    """Return a column's heading with a capital."""
    return column[:1].upper() + column[1:]


_SHOWING: dict[str, object] = {
    "buttons": BUTTONS,
    "figures": _figures,
    "heading": _heading,
    "line": line,
    "few_rows": FEW_ROWS,
    "most_rows": MOST_ROWS,
    "overall": overall,
    "place": _place,
    "signs": _SIGNS,
    "time": _time,
    "urgent": _URGENCY,
    "words": _words,
}
"""The names that the page's templates use."""
