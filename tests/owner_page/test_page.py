"""The owner's page (decision 42; issue 4, item 9): who is let in, what is shown, and what it loads: nothing."""

import asyncio
import base64
import hashlib
import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

import httpx2
import pytest
from anyio.lowlevel import checkpoint
from starlette.applications import Starlette
from starlette.routing import Route

from orrery.edge.auth import FIRST_DELAY
from orrery.edge.http import bare_app, private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.errors import StoreUnavailable
from orrery.owner_page.page import FEW_ROWS, MOST_ROWS, OwnerPage, by_urgency, line, overall
from orrery.owner_page.verdicts import MOST_IN_FULL, judged
from orrery.ports.health import Finding, Problem
from orrery.ports.panels import Panel, PanelSource, Tone
from tests.support.clock import START, ManualClock
from tests.support.panels import HASH, LONG, PASSWORD, SALES, TROUBLE, WELL, failing, owner_page, source
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE


async def answer(
    page: OwnerPage, password: str | None = PASSWORD, user: str = "owner", query: str = ""
) -> httpx2.Response:
    """Ask for the page with a password, or with none."""
    auth = httpx2.BasicAuth(user, password) if password is not None else None
    async with client_of(Starlette(routes=[Route("/owner", page.answer)])) as client:
        return await client.get(f"/owner{query}", auth=auth or httpx2.USE_CLIENT_DEFAULT)


async def shown(*panels: Panel, more: tuple[PanelSource, ...] = (), query: str = "?open") -> str:
    """Return the page over these panels, unfolded, without its style."""
    found = await answer(owner_page(ManualClock(), panels, *more), query=query)
    assert found.status_code == 200
    return re.sub(r"<style>.*?</style>", "", found.text, flags=re.DOTALL)


def problem(key: str, *, acknowledged: bool = False) -> Problem:
    """Return an open problem, or one that the owner put aside."""
    return Problem(
        Finding(key, "broken", "It failed.", "Look.", essential=False), START, acknowledged=acknowledged
    )


class Outline(HTMLParser):
    """What a reader's program makes of the page: its elements, and its headings' texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self._level = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        self._level = tag if tag in {"h1", "h2"} else self._level

    def handle_endtag(self, tag: str) -> None:
        """Note a heading's end."""
        self._level = "" if tag == self._level else self._level

    def handle_data(self, data: str) -> None:
        """Note a heading's text."""
        if self._level:
            self.headings.append(f"{self._level} {data}")

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of each element of that name."""
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.mark.parametrize("user", ["owner", "", "anybody at all", "ä"])
async def test_the_password_lets_in(user: str) -> None:
    """The admin password opens the page under any name, at once."""
    clock = ManualClock()
    assert (await answer(owner_page(clock), user=user)).status_code == 200
    assert clock.sleepers == 0


@each_case("header", [None, "", "Basic", "Basic !!!", f"Bearer {PASSWORD}", f"Basic {PASSWORD}"])
async def test_without_a_password(header: str | None) -> None:
    """Without a password by HTTP Basic the page asks for one, at once and without saying more."""
    headers = {} if header is None else {"Authorization": header}
    async with client_of(Starlette(routes=[Route("/owner", owner_page(ManualClock()).answer)])) as client:
        found = await client.get("/owner", headers=headers)
    assert found.status_code == 401
    assert found.headers["www-authenticate"].startswith('Basic realm="')
    assert "Sales" not in found.text


async def test_wrong_passwords_are_slowed_down() -> None:
    """A wrong password is refused only after its delay, which grows; the right one does not wait meanwhile."""
    clock = ManualClock()
    page = owner_page(clock)
    for delay in (FIRST_DELAY, 2 * FIRST_DELAY):
        asked = asyncio.create_task(answer(page, "wrong"))
        while not clock.sleepers:
            await checkpoint()
        assert (await answer(page)).status_code == 200
        clock.advance(delay - 0.01)
        assert not asked.done()
        clock.advance(0.01)
        assert (await asyncio.wait_for(asked, PATIENCE)).status_code == 401


@each_case("configured", [None, "", "x" * 64, PASSWORD, HASH[:-1]])
async def test_without_a_usable_hash(configured: str | None) -> None:
    """Without a usable hash the page is closed for everybody, and says how one is made."""
    page = owner_page(ManualClock(), password_hash=configured)
    for password in (PASSWORD, configured or "", HASH):
        found = await answer(page, password)
        assert found.status_code == 503
        assert "www-authenticate" not in found.headers
        assert "orrery admin hash" in found.text


@pytest.mark.parametrize("password", [PASSWORD, None])
async def test_nothing_is_kept_and_nothing_is_loaded(password: str | None) -> None:
    """No answer may be stored; its own style is allowed by digest; no script, nothing from outside."""
    found = await answer(owner_page(ManualClock(), TROUBLE), password)
    policy = found.headers["content-security-policy"].split("; ")
    styles = re.findall(r"<style>(.*?)</style>", found.text, re.DOTALL)
    (digest,) = (base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles)
    assert policy[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]
    forms = "'none'" if password is None else "'self'"
    assert {"frame-ancestors 'none'", f"form-action {forms}", "base-uri 'none'", "img-src data:"} == set(
        policy[2:]
    )
    assert found.headers["cache-control"] == "private, no-store"
    loading = r"<script|<img|<iframe|<form|\bsrc=|@import|url\((?!#)|\bon\w+=|\bstyle="
    assert not re.search(loading, found.text)
    links = {one.partition("?")[0].partition(":")[0] for one in re.findall(r'href="([^"]*)', found.text)}
    assert links <= {"/owner", "data", "https"}
    assert "http-equiv" not in found.text


async def test_the_folded_page_renews_itself() -> None:
    """Folded, it is asked for again every minute, by its address; unfolded, it stands still; a refusal, too."""
    page = owner_page(ManualClock(), TROUBLE)
    assert (await answer(page)).headers["refresh"] == "60; url=/owner"
    for still in (await answer(page, query="?open"), await answer(page, None)):
        assert "refresh" not in still.headers


async def test_the_front_of_the_private_listener_leads_to_the_page() -> None:
    """Whoever asks for `/` is led to the page, which asks for the password."""
    async with client_of(bare_app("", [owner_page(ManualClock()).router()])) as client:
        led = await client.get("/")
    assert (led.status_code, led.headers["location"]) == (303, "/owner")


async def test_what_leads_stays_on_top() -> None:
    """The money is on top whatever is wrong; what is well is one line, which leads to its panels."""
    outline = Outline(page := await shown(*TROUBLE, more=(failing("Odd"),), query=""))
    assert outline.headings[1] == "h2 Sales"
    folded = [one.title for one in TROUBLE if one.tone in {"good", "plain"} and one.title != "Sales"]
    assert f'<a href="/owner?open#well">{len(folded)} well or not in use</a>' in page
    assert ", ".join(folded) in page
    assert set(folded).isdisjoint(one.removeprefix("h2 ") for one in outline.headings)


async def test_nothing_to_show_is_no_panel() -> None:
    """A source without a panel is left out."""

    async def nothing() -> None:
        return None

    page = await shown(*WELL, more=(PanelSource("Nothing", nothing),))
    assert "Nothing<" not in page


@pytest.mark.parametrize(
    ("days", "points", "nothing"),
    [
        ((0, 0, 0), "0.0,60.0 150.0,60.0 300.0,60.0", 60),
        ((0, 4900), "0.0,60.0 300.0,0.0", 60),
        ((-100, 100), "0.0,60.0 300.0,0.0", 30),
        ((7,), "0.0,0.0", 60),
    ],
)
def test_a_line_of_days(days: tuple[int, ...], points: str, nothing: float) -> None:
    """The line fills its room, and nothing has a line of its own, below which is what went back."""
    assert line(days) == (points, nothing)


async def test_takings_are_figures_and_a_line_in_words() -> None:
    """Each currency has its figures by period; the line is decoration, and its words are there for everybody."""
    page = await shown(SALES)
    assert re.findall(r"<h3>Net, (\w+)</h3>", page) == ["USD", "JPY"]
    assert "<dt>Today</dt><dd><strong>147.00</strong> <span>gross 147.00, 3 sold</span></dd>" in page
    assert page.count('preserveAspectRatio="none" aria-hidden="true"') == page.count("<figcaption>") == 2
    assert 'href="https://processor.example/payments/pi_0" rel="noreferrer">ref_<wbr>7k3m9xq2hd4v</a>' in page


async def test_the_public_listener_has_no_such_page() -> None:
    """The public app answers 404 for the page, with the right password, too; the private one answers."""

    async def undelivered() -> dict[str, int]:
        return {}

    public = public_app([], [], found(), Metrics())
    private = private_app(public, found(), Metrics(), undelivered, [owner_page(ManualClock()).router()])
    for app, status in ((public, 404), (private, 200)):
        async with client_of(app) as client:
            answer = await client.get("/owner", auth=httpx2.BasicAuth("owner", PASSWORD))
            assert answer.status_code == status
            assert (await client.post("/owner")).status_code in {404, 405}
    assert "/owner" not in public.openapi()["paths"]


@pytest.mark.parametrize(
    ("tones", "line"),
    [
        ([], "All well"),
        (["good", "plain"], "All well"),
        (["good", "attention"], "1 thing needs attention"),
        (["bad", "attention", "plain", "bad"], "3 things need attention"),
    ],
)
def test_the_one_line(tones: list[Tone], line: str) -> None:
    """The line counts what is bad or worth attention."""
    assert overall([Panel("x", "x", tone) for tone in tones]) == line


async def test_what_wants_the_owner_comes_first() -> None:
    """Bad panels come first, then those worth attention; the rest keeps its order, as do equals."""
    tones: tuple[Tone, ...] = ("good", "attention", "bad", "plain", "attention", "bad")
    panels = [Panel(f"{number}", "x", tone) for number, tone in enumerate(tones)]
    assert [panel.title for panel in by_urgency(panels)] == ["2", "5", "1", "4", "0", "3"]
    outline = Outline(await shown(*panels))
    assert outline.headings == ["h1 4 things need attention", *(f"h2 {n}" for n in "251403")]


async def test_the_line_leads_to_what_wants_the_owner() -> None:
    """Each part that wants the owner is linked from the top, and nothing else is."""
    outline = Outline(await shown(*TROUBLE))
    targets = [str(link["href"]) for link in outline.named("a") if "#wants" in str(link["href"])]
    ids = [f"/owner?open#{one['id']}" for one in outline.named("section") if "wants" in str(one["id"])]
    assert targets == ids
    assert len(targets) == sum(panel.tone in {"bad", "attention"} for panel in TROUBLE)


async def test_one_that_cannot_be_read() -> None:
    """A panel that fails says so in its place; the others are there, and the line counts it."""
    page = await shown(*WELL, more=(failing("Secrets kept"), failing("Odd", ZeroDivisionError("marked"))))
    assert "2 things need attention" in page
    assert "This could not be read: The store is locked by another program." in page
    assert "Unexpected ZeroDivisionError." in page
    assert "marked" not in page
    assert all(panel.title in page for panel in WELL)


async def test_one_that_does_not_answer() -> None:
    """A panel that does not answer in time says so; the page waits no longer."""

    async def never() -> Panel:
        raise TimeoutError

    assert "no answer within 5 s" in await shown(*WELL, more=(PanelSource("Slow", never),))


async def test_texts_are_escaped_and_marked_up() -> None:
    """Commands and moments are marked up, whatever else is in a text is shown to the letter."""
    panel = Panel(
        "<i>T</i>",
        "a `<b>` at 2026-11-21T09:03:00Z & 2026-99-99T00:00:00Z",
        todo="since 2026-11-21 09:03",
        columns=("what it is",),
        rows=(("`x` <script>",), ("in-0123456789ab of northwind/exam",), ("push_token 0123456789ab",)),
    )
    page = await shown(panel)
    moment = '<time datetime="2026-11-21T09:03:00Z">21 Nov 2026, 09:03</time>'
    assert f"a <code>&lt;b&gt;</code> at {moment} &amp; 2026-99-99T00:00:00Z" in page
    assert f"since {moment}" in page
    assert "<code>x</code> &lt;script&gt;" in page
    assert '<span class="id">in-0123456789ab</span> of northwind/<wbr>exam' in page
    assert 'push_<wbr>token <span class="id">0123456789ab</span>' in page
    assert "&lt;i&gt;T&lt;/i&gt;" in page
    assert ">What it is</th>" in page


async def test_landmarks_and_tables() -> None:
    """One main, one first heading; each panel is a named region, each table has a caption and headings."""
    outline = Outline(await shown(*TROUBLE))
    ids = {attributes.get("id") for _, attributes in outline.tags}
    assert [len(outline.named(tag)) for tag in ("main", "h1", "nav")] == [1, 1, 1]
    assert all(section["aria-labelledby"] in ids for section in outline.named("section"))
    assert len(outline.named("table")) == len(outline.named("caption")) == sum(bool(one.rows) for one in TROUBLE)
    assert {heading["scope"] for heading in outline.named("th")} == {"col"}
    assert outline.named("html")[0]["lang"] == "en"


async def test_many_rows_unfold() -> None:
    """Of a long table some rows are in sight, most of what leads, and a link leads to all of them."""
    for title, most, place in (("Long", FEW_ROWS, "wants-1"), (SALES.title, MOST_ROWS, "leads-1")):
        rows = tuple((f"row {number}",) for number in range(most + 7))
        panel = Panel(title, "x", "bad", columns=("Row",), rows=rows)
        folded, whole = await shown(panel, query=""), await shown(panel)
        assert (folded.count("<td"), whole.count("<td")) == (most, most + 7)
        assert f'<a href="/owner?open#{place}">7 more</a>' in folded
        assert " more</a>" not in whole + await shown(replace(panel, rows=rows[:most]), query="")


async def test_of_many_problems_the_first_are_in_full() -> None:
    """Folded, the first open problems are whole, and of each other one there is a line that leads to it."""
    many = [*(problem(f"job: {number}") for number in range(9)), problem("aside", acknowledged=True)]
    for listed, in_full in ((many, MOST_IN_FULL), (many[7:], 2), ([], 0)):
        (one,) = judged([], partial(list[Problem], listed))
        folded, whole = Outline(await shown(more=(one,), query="")), Outline(await shown(more=(one,)))
        buttons = [form["id"] for form in whole.named("form")]
        assert [form["id"] for form in folded.named("form")] == buttons[:in_full]
        assert len(buttons) == len(listed)
        led_to = [link["href"] for link in folded.named("a") if "problem-" in str(link["href"])]
        assert led_to == [f"/owner?open#{one}" for one in buttons[in_full:]]


async def test_figures_stand_flush_right() -> None:
    """A column of figures is set as one; a column with a word in it is not."""
    rows = (("1,640", "7", "-", "-"), ("21.5", "x", "3", "-"))
    outline = Outline(await shown(Panel("x", "x", columns=("a", "b", "c", "d"), rows=rows)))
    assert ["class" in heading for heading in outline.named("th")] == [True, False, True, False]


@pytest.mark.parametrize(("mode", "told"), [("sandbox", True), ("live", False)])
async def test_the_sandbox_is_told(mode: str, told: bool) -> None:  # noqa: FBT001  a parameter of the test
    """The page of a sandbox says that it is one; a live one says nothing of it."""
    page = (await answer(owner_page(ManualClock(), WELL, mode=mode))).text
    assert ('<p class="mode">Sandbox</p>' in page) == told


async def test_a_store_that_is_gone() -> None:
    """With every panel failing the page is still a page."""
    sources = [failing(name, StoreUnavailable("Gone.")) for name in ("a", "b")]
    assert "2 things need attention" in await shown(more=tuple(sources))
    assert "All well" in await shown()


async def test_sources_are_asked_at_once() -> None:
    """No panel waits for another: each is asked before any answers."""
    asked: list[str] = []
    both = asyncio.Event()

    def waiting(title: str) -> PanelSource:
        async def give() -> Panel:
            asked.append(title)
            if len(asked) == 2:
                both.set()
            await both.wait()
            return Panel(title, "x")

        return PanelSource(title, give)

    page = await shown(LONG[1], more=(waiting("One"), waiting("Two"), source(LONG[0])))
    assert "One" in page
    assert asked == ["One", "Two"]
