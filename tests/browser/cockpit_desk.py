"""The cockpit's page in a browser: its real server, and made-up answers for what cannot be brought about there."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from tests.support.cockpit import Cockpit

Json = dict[str, Any]

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ACCOUNT = "ann@lab.example"
HEAD = "/api/comms/message-head"

IN_STORAGE = """Object.fromEntries(
  Object.entries(localStorage).filter(([key]) => key.startsWith("orrery.dismissed")))"""

REPEATED = """([key, times]) => {
  for (let turn = 0; turn < times; turn += 1)
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}"""


def made_row(number: int, **changes: object) -> Json:
    """Return a made-up row; those with a higher number are older."""
    row: Json = {
        "id": f"row-{number}",
        "source": "mail",
        "sender": f"Sender {number}",
        "subject": f"Subject {number}",
        "preview": f"What message {number} begins with",
        "received_at": (NOON - timedelta(minutes=number)).isoformat().replace("+00:00", "Z"),
        "priority": "normal",
        "track": "B",
        "account": ACCOUNT,
        "web_link": "",
        "score": 50,
        "replyable": True,
        "until": None,
        "address": "",
        "warning": "",
    }
    return row | changes


def made_person(name: str, address: str = "") -> Json:
    """Return somebody whom a message names."""
    return {"name": name, "address": address or f"{name.lower()}@lab.example"}


def made_recipients(*to: str, cc: Sequence[str] = (), more: int = 0) -> Json:
    """Return whom a draft goes to."""
    return {"to": [made_person(one) for one in to], "cc": [made_person(one) for one in cc], "more": more}


def made_head(*warnings: Json, to_all: Json | None = None, **answer: object) -> Json:
    """Return the head of a message, which Cy wrote; `to_all` is whom an answer to all would go to."""
    about: Json = {"sender": made_person("Cy"), "received_at": NOON.isoformat(), "is_newer": False}
    whom = {"alone": made_recipients("Cy"), "all": to_all, "warnings": list(warnings)}
    to = made_recipients("Ann", cc=["Di"])
    return {
        "sender": made_person("Cy"),
        **to,
        "warnings": list(warnings),
        "answer": about | whom | answer,
        "track": "B",
    }


def made_mailbox(**changes: object) -> Json:
    """Return the state of a mailbox that is fresh."""
    mailbox: Json = {
        "account": ACCOUNT,
        "track": "B",
        "state": "fresh",
        "why": "",
        "at": "2026-11-21T12:00:00Z",
        "asked_at": "2026-11-21T12:00:00Z",
        "count": 3,
        "unreadable": 0,
    }
    return mailbox | changes


@dataclass
class Desk:
    """The page of a running cockpit. The paths in `answers` are answered from here, all else by the server."""

    page: Page
    cockpit: Cockpit
    answers: dict[str, tuple[int, object]] = field(default_factory=dict[str, tuple[int, object]])
    asked: list[str] = field(default_factory=list[str])
    """The addresses that were asked for and answered from here."""

    def gives(self, path: str, body: object, status: int = 200) -> None:
        """From now on answer this path so."""
        if path not in self.answers:
            self.page.route(f"**{path}*", partial(self._answer, path))
        self.answers[path] = (status, body)

    def lists(self, rows: Sequence[Json], mailboxes: Sequence[Json] | None = None, **more: object) -> None:
        """From now on list these rows."""
        page = self.cockpit.listed()["page"]
        given = [made_mailbox()] if mailboxes is None else list(mailboxes)
        body: Json = {"rows": list(rows), "mailboxes": given, "tasks": [], "page": page, "started_page": page}
        self.gives("/api/comms/rows", body | more)
        if HEAD not in self.answers:
            self.gives(HEAD, made_head())

    def refuses(self, path: str, status: int, tag: str, message: str) -> None:
        """From now on refuse this path so."""
        self.gives(path, {"error": tag, "message": message}, status)

    def open(self, token: str | None = None) -> "Desk":
        """Open the page as a tab that has the token."""
        given = json.dumps(self.cockpit.token if token is None else token)
        self.page.add_init_script(f"sessionStorage.setItem('orrery.token', {given})")
        _ = self.page.goto(f"http://{self.cockpit.host}/")
        return self

    def begin(self) -> "Desk":
        """Open the page and wait for its rows."""
        _ = self.open()
        self.rows.first.wait_for()
        return self

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def hold(self, key: str, times: int) -> None:
        """Hold a key down: it comes again faster than any keyboard repeats."""
        for _ in range(times):
            self.page.keyboard.down(key)
        self.page.keyboard.up(key)

    def repeat(self, key: str, times: int) -> None:
        """Press a key as often as this, as fast as the page can take it."""
        self.page.evaluate(REPEATED, [key, times])

    def count(self, number: int) -> None:
        """Wait until the page counts as many rows that are not dismissed."""
        expect(self.page).to_have_title(f"({number:,}) Comms · Orrery" if number else "Comms · Orrery")

    def expect_said(self, words: str) -> None:
        """Wait until the live region says so."""
        expect(self.said).to_contain_text(words)

    def ids(self) -> list[str]:
        """Return the ids of the rows on the page, in order."""
        return self.page.evaluate("[...document.querySelectorAll('.row')].map((row) => row.dataset.id)")

    @property
    def rows(self) -> Locator:
        return self.page.get_by_role("article")

    @property
    def current(self) -> Locator:
        return self.page.locator(".row[aria-current='true']")

    @property
    def said(self) -> Locator:
        return self.page.locator("#report")

    @property
    def storage(self) -> dict[str, str]:
        """What the page keeps of dismissals."""
        return self.page.evaluate(IN_STORAGE)

    def button(self, name: str) -> Locator:
        """Return a button by its exact name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def _answer(self, path: str, route: Route) -> None:
        self.asked.append(route.request.url)
        status, body = self.answers[path]
        text = body if isinstance(body, str) else json.dumps(body)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        route.fulfill(status=status, body=text, content_type=f"{kind}; charset=utf-8")
