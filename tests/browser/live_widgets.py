"""The network around a page with live widgets: its scripts from the files, its answers as a test says."""

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Error, Page, Request, Route
from starlette.requests import Request as ServerRequest
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route as ServerRoute

SCRIPTS = Path(__file__).resolve().parents[2] / "src" / "orrery" / "web" / "live"
ORIGIN = "http://127.0.0.1"
START = datetime(2026, 11, 21, 5, 30, tzinfo=UTC)
STRICT = "default-src 'self'; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'"

STEP = 9
"""Seconds that pass between answers: in longer steps, the fake clock reaches a deadline before an answer."""

COUNT_QUESTIONS = """
  if (window.questions === undefined) {  // a page that is used again has this twice
    const ask = window.fetch;
    window.questions = 0;
    window.fetch = (...question) => (window.questions += 1, (window.question = ask(...question)));
  }
"""

MOVE_CLOCK = """async ([seconds, step, answered]) => {
  for (let left = seconds; left > 0; left -= step) {
    const before = window.questions;
    await window.__pwClock.controller.runFor(Math.round(Math.min(step, left) * 1000));
    if (window.questions === before) continue;
    if (answered) await window.question.catch(() => {});  // the page that waits is not overtaken by the clock
    await fetch("/settled").then((answer) => answer.text());
  }
}"""
"""Moves the fake clock from within the page. `clock.run_for` takes far longer: each of its steps is messages to
the browser, and a script that it keeps."""

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
}"""


def live_routes() -> list[ServerRoute]:
    """Return the scripts, an empty counter and no price, for a server that stands for Orrery."""

    async def script(request: ServerRequest) -> Response:
        return FileResponse(SCRIPTS / request.path_params["name"], media_type="text/javascript")

    async def stats(_: ServerRequest) -> Response:
        empty = {"generated_at": None, "age_s": None, "stale": True, "error": "no-data"}
        return JSONResponse({"totalUnique": 0, "active": 0, "pages": []} | empty)

    return [ServerRoute("/live/{name}", script), ServerRoute("/api/stats", stats), *button_routes()]


def button_routes() -> list[ServerRoute]:
    """Return the script of the buy button, and no price for it."""

    async def button(_: ServerRequest) -> Response:
        return FileResponse(SCRIPTS.parent / "guided/buy.js", media_type="text/javascript")

    async def products(_: ServerRequest) -> Response:
        return JSONResponse([])

    return [ServerRoute("/guided/buy.js", button), ServerRoute("/guided/api/products", products)]


@dataclass
class Network:
    """Serves one page of `markup`, and answers `/api/stats` by `answer`, which a test sets.

    `asked` holds the requests for an answer; `now` is the server's time, which `pass_time` moves with the page's.
    """

    page: Page
    markup: str = ""
    answer: Callable[[Route], None] = field(default=lambda route: route.abort())
    now: datetime = START
    policy: str = STRICT
    asked: list[Request] = field(default_factory=list[Request])
    held: list[Route] = field(default_factory=list[Route])

    def open(self, markup: str, clock: datetime = START) -> None:
        """Open a page with this markup, by a device's clock that stands at `clock`, and wait for its scripts."""
        self.markup = markup
        self.page.clock.install(time=clock - timedelta(hours=1))
        self.page.add_init_script(COUNT_QUESTIONS)
        self.page.clock.pause_at(clock)  # ahead of the page: however long it takes to load, no time passes
        self.page.route("**/*", self._serve)
        self.page.goto(f"{ORIGIN}/")

    def visit(self, url: str) -> None:
        """Open a page of a running site, which takes scripts and answers from here, and the rest from there."""
        self.page.clock.install(time=START)
        self.page.add_init_script(COUNT_QUESTIONS)
        self.page.route("**/live/*", self._serve)
        self.page.route("**/api/stats*", self._serve)
        self.page.goto(url)

    def says(self, body: object, status: int = 200, date: datetime | None = None) -> None:
        """From now on answer with this body."""
        dated = {"Date": format_datetime(date, usegmt=True)} if date else {}
        dated["Access-Control-Allow-Origin"] = "*"
        text = body if isinstance(body, str) else json.dumps(body)

        def give(route: Route) -> None:
            route.fulfill(status=status, body=text, content_type="application/json", headers=dated)

        self.answer = give

    def says_each(self, bodies: Sequence[object]) -> None:
        """From now on answer a question whose address ends in `=N` with body N."""
        answers: list[Callable[[Route], None]] = []
        for body in bodies:
            self.says(body)
            answers.append(self.answer)
        self.answer = lambda route: answers[int(route.request.url.rpartition("=")[2])](route)

    def counts(self, count: object, age: float = 20, **more: object) -> None:
        """From now on answer with a count that was made `age` seconds before now."""
        self.says({"totalUnique": count, "scope": "cosmos"} | self.made(age) | more)

    def made(self, age: float) -> dict[str, object]:
        """Return the fields of an answer that tell its age."""
        moment = (self.now - timedelta(seconds=age)).isoformat().replace("+00:00", "Z")
        return {"generated_at": moment, "age_s": age, "stale": age >= 180}

    def show(self, markup: str, count: object = 12) -> None:
        """Open a page with this markup whose counter gives this count."""
        self.counts(count)
        self.open(markup)
        self.settle()

    def show_each(self, tag: str, bodies: Sequence[object]) -> None:
        """Open a page with such an element for each body, which is the answer to it."""
        self.says_each(bodies)
        self.open("".join(f'<{tag} src="/api/stats?element={one}"></{tag}>' for one in range(len(bodies))))
        self.settle()

    def fails(self) -> None:
        """From now on nothing is reached."""
        self.answer = lambda route: route.abort("internetdisconnected")

    def is_silent(self) -> None:
        """From now on take questions and answer none."""
        self.answer = self.held.append

    def let_go(self) -> None:
        """Answer the questions that were left open, with nothing."""
        for route in self.held:
            with contextlib.suppress(Error):  # the page gave this one up long ago
                route.fulfill(body="")

    def pass_time(self, seconds: float, step: float = STEP) -> None:
        """Let time pass for the server and the page, in steps, after each of which answers arrive."""
        self.now += timedelta(seconds=seconds)
        self.page.evaluate(MOVE_CLOCK, [seconds, step, self.answer != self.held.append])

    def settle(self) -> None:
        """Return when the answers that are on their way have been read."""
        self.page.evaluate("() => fetch('/settled').then((answer) => answer.text())")

    def hide(self) -> None:
        """Put the tab in the background."""
        self.page.evaluate(HIDE, arg=True)

    def bring_back(self) -> None:
        """Bring the tab to the front."""
        self.page.evaluate(HIDE, arg=False)
        self.settle()

    def _serve(self, route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/api/stats":
            self.asked.append(route.request)
            self.answer(route)
        elif path.startswith("/live/"):
            route.fulfill(path=SCRIPTS / path.removeprefix("/live/"), content_type="text/javascript")
        elif path == "/":
            route.fulfill(
                body=self._document(), content_type="text/html", headers={"Content-Security-Policy": self.policy}
            )
        else:
            route.fulfill(body="", content_type="text/plain")

    def _document(self) -> str:
        return (
            '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>Widgets</title>'
            f"{scripts('pill', 'tile', 'admin')}<body><main><h1>Widgets</h1>{self.markup}</main>"
        )


def scripts(*names: str) -> str:
    """Return the tags that load these scripts."""
    return "".join(f'<script type="module" src="/live/{name}.js"></script>' for name in names)


def queries(requests: Iterable[Request]) -> list[str]:
    """Return the query strings of requests."""
    return [urlsplit(request.url).query for request in requests]
