"""The buttons of the owner's page: only the page itself can press them, and what they change shows at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import quote

import httpx2
import pytest

from orrery.adapters.memory import MemoryStore
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.errors import StoreUnavailable
from orrery.owner_page.page import Presses
from orrery.owner_page.verdicts import judged
from orrery.ports.health import Finding, Problem
from orrery.runtime.problems import Problems
from tests.runtime.test_watch import JOB, SECRET, Desk
from tests.support.clock import ManualClock
from tests.support.panels import PASSWORD, owner_page
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

KEY = "webhook secret"
OWN = {"Sec-Fetch-Site": "same-origin"}
HERE = {"Origin": "http://127.0.0.1:8081"}


@dataclass
class Page:
    """The page of the private listener over a list of problems, and its owner's browser."""

    desk: Desk = field(default_factory=Desk)

    def __post_init__(self) -> None:
        async def found_now() -> list[Finding]:
            return self.desk.findings

        self.desk.findings = [SECRET, JOB]
        self.problems = Problems(self.desk.store, self.desk.clock, found_now)
        self.problems.last = [Problem(one, self.desk.clock.now()) for one in self.desk.findings]
        presses: Presses = {
            "aside": lambda key, seen: self.problems.acknowledge(key, timedelta(days=1), seen=seen),
            "back": lambda key, _: self.problems.end(key),
        }
        sources = judged([], lambda: self.problems.last)
        page = owner_page(self.desk.clock, [], *sources, presses=presses)
        public = public_app([], [], found(), Metrics())
        self.app = private_app(public, found(), Metrics(), self._undelivered, [page.router()])

    async def _undelivered(self) -> Mapping[str, int]:
        return {}

    async def ask(
        self,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] = OWN,
        *,
        method: str = "",
        path: str = "",
        password: str = PASSWORD,
    ) -> httpx2.Response:
        """Open the page, or send a form as a browser would."""
        async with client_of(self.app, host="127.0.0.1:8081") as client:
            return await client.request(
                method or ("POST" if form else "GET"),
                path or ("/owner/problems" if form else "/owner?open"),
                data=form,
                headers=headers,
                auth=httpx2.BasicAuth("owner", password) if password else httpx2.USE_CLIENT_DEFAULT,
            )

    async def form(self, does: str = "aside", key: str = KEY) -> dict[str, str]:
        """Return what a button of the page sends; the page has it."""
        page = (await self.ask()).text
        (shown,) = re.findall(rf"<form[^>]*>(?:(?!</form>).)*{key}.*?</form>", page, re.DOTALL)
        assert f'value="{does}"' in shown
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', shown))
        return {**fields, "does": does}

    async def put_aside(self) -> list[str]:
        """Return what is put aside."""
        return [one.key for one in await self.problems.all() if one.acknowledged]


async def test_put_aside_and_brought_back() -> None:
    """A button puts a problem aside for a day, the page has it at once, at its place; another brings it back."""
    page = Page()
    led = await page.ask(await page.form())
    place = f"problem-{quote(KEY)}"
    assert (led.status_code, led.headers["location"]) == (303, f"/owner?open#{place}")
    assert [(one.key, one.until) for one in page.problems.last if one.acknowledged] == [
        (KEY, page.desk.clock.now() + timedelta(days=1))
    ]
    shown = (await page.ask()).text
    assert f'id="{place}"' in shown
    assert "1 needs attention, 1 acknowledged" in shown
    assert (await page.ask(await page.form("back"))).status_code == 303
    assert await page.put_aside() == []
    assert "2 need attention" in (await page.ask()).text


@each_case("headers", [OWN, HERE, OWN | HERE, OWN | {"Origin": "null"}])
async def test_the_page_itself_may(headers: dict[str, str]) -> None:
    """A browser that says the site is believed; an old one says the origin, which is enough."""
    page = Page()
    assert (await page.ask(await page.form(), headers)).status_code == 303
    assert await page.put_aside() == [KEY]


async def test_what_has_changed_since_it_was_shown() -> None:
    """A page that was left open puts aside neither what has grown, nor another problem whose key holds its own."""
    page = Page()
    form = await page.form()
    for grown in (replace(SECRET, items=("one",)), replace(SECRET, essential=False)):
        page.desk.findings = [grown, JOB]
        refused = await page.ask(form)
        assert (refused.status_code, "Look at it again." in refused.text) == (400, True)
    page.desk.findings = [replace(SECRET, part=f"{SECRET.part} of old"), JOB]
    assert (await page.ask(form)).status_code == 404
    page.desk.findings = [SECRET, JOB]
    assert (await page.put_aside(), (await page.ask(form)).status_code) == ([], 303)


_ELSEWHERE = "Only the page itself may ask for that"


@each_case(
    ("headers", "status", "sentence"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403, _ELSEWHERE),
        ({"Sec-Fetch-Site": "same-site"} | HERE, 403, _ELSEWHERE),
        ({"Sec-Fetch-Site": "none"}, 403, _ELSEWHERE),
        ({"Sec-Fetch-Site": "cross-site"} | HERE, 403, _ELSEWHERE),
        ({"Origin": "http://127.0.0.1:3000"}, 403, _ELSEWHERE),
        ({"Origin": "https://127.0.0.1:8081"}, 403, _ELSEWHERE),
        ({"Origin": "null"}, 403, _ELSEWHERE),
        ({}, 403, _ELSEWHERE),
        (OWN | {"Host": "evil.example"}, 400, "Invalid host header"),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 400, "Invalid host header"),
    ],
)
async def test_a_request_from_elsewhere_changes_nothing(
    headers: dict[str, str], status: int, sentence: str
) -> None:
    """A browser sends the password for any page: another page or name is refused, and with the token, too."""
    page = Page()
    refused = await page.ask(await page.form(), headers)
    assert (refused.status_code, sentence in refused.text) == (status, True)
    assert await page.put_aside() == []


@each_case(
    ("change", "status", "sentence"),
    [
        ({"token": ""}, 403, "too old"),
        ({"token": "0" * 64}, 403, "too old"),
        ({"token": "\u00e4"}, 403, "too old"),
        ({"does": "everything"}, 422, "no such button"),
        ({"key": "another part"}, 404, "There is no problem"),
        ({"key": "x" * 5000}, 413, "larger than 4096 bytes"),
    ],
)
async def test_a_form_that_the_page_did_not_show(change: dict[str, str], status: int, sentence: str) -> None:
    """A form with another token, another button or an unknown key is refused with a sentence."""
    page = Page()
    refused = await page.ask(await page.form() | change)
    assert (refused.status_code, sentence in refused.text) == (status, True)
    assert await page.put_aside() == []


@pytest.mark.parametrize(("days", "status"), [(0, 303), (1, 303), (2, 403), (-1, 403)])
async def test_a_form_lasts_over_midnight(days: int, status: int) -> None:
    """A page that was opened yesterday still works; an older one is refused, and one of a day to come."""
    page = Page()
    form = await page.form()
    page.desk.clock.advance(days * 86400)
    assert (await page.ask(form)).status_code == status


@each_case("method", ["GET", "HEAD", "PUT", "DELETE"])
async def test_only_a_form_that_is_sent_changes_something(method: str) -> None:
    """A link cannot press a button."""
    page = Page()
    query = "&".join(f"{name}={quote(value)}" for name, value in (await page.form()).items())
    assert (await page.ask(method=method, path=f"/owner/problems?{query}")).status_code == 405
    assert (await page.ask(path=f"/owner?{query}")).status_code == 200
    assert await page.put_aside() == []


async def test_without_the_password() -> None:
    """The token alone presses no button."""
    page = Page()
    refused = await page.ask(await page.form(), password="")
    assert (refused.status_code, "www-authenticate" in refused.headers) == (401, True)
    assert await page.put_aside() == []


async def test_a_store_that_fails() -> None:
    """What cannot be stored is not done, and the page says so."""
    store = UnreliableStore(MemoryStore(ManualClock()))
    page = Page(Desk(store))
    form = await page.form()
    store.commit_errors = [StoreUnavailable("The disk is full.")]
    refused = await page.ask(form)
    assert (refused.status_code, "The disk is full." in refused.text) == (503, True)
    assert "admin password" not in refused.text
    assert await page.put_aside() == []
