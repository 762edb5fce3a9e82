"""The owner's page in a real browser: light, dark, phone, desk, keyboard, no script (issue 4, item 9)."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from orrery.edge.headers import SecurityHeaders
from orrery.edge.http import add_reference, bare_app, public_app
from orrery.edge.metrics import Metrics
from orrery.owner_page.verdicts import MOST_IN_FULL, judged
from orrery.ports.health import Finding, Problem
from tests.browser.accessibility import violations_in_both_schemes
from tests.browser.conftest import OpenPage, Watch
from tests.owner_page.test_buttons import Page
from tests.support.clock import START, ManualClock
from tests.support.panels import LONG, PASSWORD, TO_GO_LIVE, TROUBLE, WELL, WIDE, failing, owner_page
from tests.support.rounds import found
from tests.support.serving import served

OWNER = {"username": "owner", "password": PASSWORD}
RED = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}


MANY = [
    Problem(
        Finding(
            f"dispute:du_3Q9xK2LkdIwHu7ix0sZ{number}",
            "broken",
            "Open: charge ch_3Q9xK2LkdIwHu7ix0sZ is disputed, answer by 2026-11-30 12:00 UTC.",
            "Answer in the processor's dashboard: a dispute without an answer is lost. Whose it is: "
            "`orrery access show ref_7k3m9xq2hd4v`.",
            essential=False,
        ),
        START,
    )
    for number in range(13)
]

_OVERHANG = """Math.max(...[...document.querySelectorAll("table")].map(table =>
    Math.round(table.getBoundingClientRect().right
        - table.parentElement.firstElementChild.getBoundingClientRect().right)))"""
"""By how many pixels a table is wider than the header above it in its card."""


@pytest.fixture(scope="module")
def desk() -> Iterator[str]:
    """Serve the page in four states, and one that is closed."""
    clock = ManualClock()
    pages = {
        "/owner": owner_page(clock, TROUBLE, failing("Odd"), mode="sandbox"),
        "/well": owner_page(clock, WELL),
        "/new": owner_page(clock, (TO_GO_LIVE, *WELL)),
        "/long": owner_page(clock, LONG),
        "/wide": owner_page(clock, WIDE),
        "/many": owner_page(clock, WELL, *judged([], lambda: MANY)),
        "/closed": owner_page(clock, password_hash=None),
    }
    reference = bare_app("", [])
    add_reference(reference, public_app([pages["/well"].router()], [], found(), Metrics()))
    routes = [Route(path, page.answer) for path, page in pages.items()]
    app = SecurityHeaders(Starlette(routes=[*routes, Mount("/reference", reference)]))
    with served(app) as url:
        yield url


def sideways(page: Tab) -> int:
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_no_barrier_in_any_state(desk: str, open_page: OpenPage, watch: Watch) -> None:
    """In both schemes axe-core finds nothing, no width scrolls sideways, and the style is let through."""
    page = open_page(viewport=PHONE, http_credentials=OWNER)
    for path in ("/owner", "/well", "/well?open", "/many", "/new", "/long?open", "/reference/docs", "/closed"):
        page.goto(desk + path)
        assert sideways(page) == 0
        assert violations_in_both_schemes(page) == []
        assert page.evaluate(RED) <= 200
        page.emulate_media(color_scheme="light")
        assert page.evaluate(RED) > 200
        page.set_viewport_size(DESK)  # pyright: ignore[reportArgumentType] width and height
        assert sideways(page) == 0
        page.set_viewport_size(PHONE)  # pyright: ignore[reportArgumentType] width and height
    watch.forgive("503")


def test_tables_fit_their_cards(desk: str, open_page: OpenPage) -> None:
    """At no width a table is wider than its card, and neither a fingerprint nor a short word is broken."""
    page = open_page(http_credentials=OWNER)
    page.goto(f"{desk}/wide?open")
    for width in (360, 710, 760, 962, 1040, 1121, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert (width, sideways(page), page.evaluate(_OVERHANG)) == (width, 0, 0)
        for text in ("f96612547420", "refunded"):
            assert page.get_by_text(text, exact=True).evaluate("one => one.getClientRects().length") == 1


def test_a_phone_needs_few_thumbs(desk: str, open_page: OpenPage) -> None:
    """With two currencies and ten sales, all of which is well, the page is shorter than 2,000 pixels."""
    page = open_page(viewport=PHONE, http_credentials=OWNER)
    page.goto(f"{desk}/well")
    expect(page.get_by_role("table", name="Sales").get_by_role("row")).to_have_count(11)
    assert page.evaluate("document.documentElement.scrollHeight") < 2000


def test_many_problems_need_few_thumbs(desk: str, open_page: OpenPage) -> None:
    """Of 13 problems the most urgent are in full, and the others a line each, which leads to all of it."""
    page = open_page(viewport=PHONE, http_credentials=OWNER)
    page.goto(f"{desk}/many")
    assert page.evaluate("document.documentElement.scrollHeight") < 3800
    brief = page.get_by_role("region", name="Problems").get_by_role("listitem")
    expect(brief).to_have_count(len(MANY) - MOST_IN_FULL)
    assert {one.bounding_box()["height"] < 40 for one in brief.all()} == {True}  # pyright: ignore[reportOptionalSubscript] it is in sight


def test_a_step_to_go_live_is_a_block(desk: str, open_page: OpenPage) -> None:
    """On a phone what to do stands below its step, whatever it is made of."""
    page = open_page(viewport=PHONE, http_credentials=OWNER)
    page.goto(f"{desk}/new")
    steps = page.get_by_role("table", name="To go live").get_by_role("row")
    shown = steps.evaluate_all("all => all.slice(1).map(one => getComputedStyle(one).display)")
    assert shown == ["block", "block"]


def test_without_a_script(desk: str, open_page: OpenPage) -> None:
    """Without JavaScript the page is whole: the links at the top lead to their parts, and looking again works."""
    page = open_page(java_script_enabled=False, viewport=PHONE, http_credentials=OWNER)
    page.goto(f"{desk}/owner")
    expect(page.get_by_role("heading", level=1)).to_have_text("7 things need attention")
    page.get_by_role("link", name="Notifications").click()
    expect(page.get_by_role("region", name="Notifications")).to_be_in_viewport()
    page.get_by_role("link", name="Fold").click()
    expect(page).to_have_url(re.compile(r"/owner$"))
    page.get_by_role("link", name="Look again").click()
    expect(page).to_have_url(re.compile(r"/owner$"))
    page.get_by_role("link", name="well or not in use").click()
    expect(page.get_by_role("region", name="Receipts")).to_be_in_viewport()


def test_what_is_unfolded_stays_so(desk: str, open_page: OpenPage) -> None:
    """The folded page asks to be renewed, where nothing is lost; each link into it leads to one that does not."""
    page = open_page(viewport=DESK, http_credentials=OWNER)
    folded = page.goto(f"{desk}/owner")
    assert folded
    assert folded.headers["refresh"] == "60; url=/owner"
    inner = page.locator("main a[href^='/owner']")
    addresses = inner.evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert addresses
    assert all(one.startswith("/owner?open") for one in addresses)
    still = page.goto(f"{desk}/owner?open")
    assert still
    assert "refresh" not in still.headers


def test_the_keyboard_reaches_and_shows(desk: str, open_page: OpenPage) -> None:
    """Tab goes from the links on top to what wants the owner; Enter leads there, and Tab goes on from there."""
    page = open_page(viewport=DESK, http_credentials=OWNER)
    page.goto(f"{desk}/owner")
    for name in ("Look again", "unfold it", "Payments and access"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name=name)).to_be_focused()
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Payments and access")).to_be_in_viewport()
    page.goto(f"{desk}/long")
    page.get_by_role("link", name="11 more").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("table").first.get_by_role("row")).to_have_count(16)


def test_on_paper(desk: str, open_page: OpenPage) -> None:
    """Printed, the page is dark on white, without its link, whatever the scheme."""
    page = open_page(color_scheme="dark", viewport=DESK, http_credentials=OWNER)
    page.goto(f"{desk}/owner")
    page.emulate_media(media="print")
    expect(page.get_by_role("link", name="Look again")).to_be_hidden()
    ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color.match(/\\d+/g).map(Number)")
    assert max(ink) < 80


def test_a_problem_is_put_aside_by_keyboard(open_page: OpenPage) -> None:
    """On a phone Enter puts a problem aside, leads to its place, and brings it back; no width has a barrier."""
    page = open_page(viewport=PHONE, http_credentials=OWNER)
    with served(Page().app) as url:
        page.goto(f"{url}/owner")
        for name, line, then in (
            ("For a day webhook secret", "1 needs attention, 1 acknowledged", "Bring it back webhook secret"),
            ("Bring it back webhook secret", "2 need attention", "For a day webhook secret"),
        ):
            page.get_by_role("button", name=name).focus()
            page.keyboard.press("Enter")
            expect(page).to_have_url(f"{url}/owner?open#problem-webhook%20secret")
            expect(page.get_by_role("region", name="Problems")).to_contain_text(line)
            expect(page.get_by_role("button", name=then)).to_be_in_viewport()
            assert violations_in_both_schemes(page) == []
            for width in (1280, 760, 360):
                page.set_viewport_size({"width": width, "height": 740})
                assert (width, sideways(page), page.evaluate(_OVERHANG)) == (width, 0, 0)


def test_without_a_script_a_button_works(open_page: OpenPage) -> None:
    """The button is a form: it needs no JavaScript."""
    page = open_page(java_script_enabled=False, http_credentials=OWNER)
    with served(Page().app) as url:
        page.goto(f"{url}/owner")
        page.get_by_role("button", name="For a day job: reconcile").click()
        expect(page.get_by_role("button", name="Bring it back job: reconcile")).to_be_visible()
