"""The owner's page in a real browser: light, dark, phone, desk, keyboard, no script (issue 4, item 9)."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.routing import Route

from orrery.edge.headers import SecurityHeaders
from tests.browser.accessibility import violations_in_both_schemes
from tests.browser.conftest import OpenPage, Watch
from tests.support.clock import ManualClock
from tests.support.panels import LONG, PASSWORD, TROUBLE, WELL, WIDE, failing, owner_page
from tests.support.serving import served

OWNER = {"username": "owner", "password": PASSWORD}
RED = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}


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
        "/long": owner_page(clock, LONG),
        "/wide": owner_page(clock, WIDE),
        "/closed": owner_page(clock, password_hash=None),
    }
    app = SecurityHeaders(Starlette(routes=[Route(path, page.answer) for path, page in pages.items()]))
    with served(app) as url:
        yield url


def sideways(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_no_barrier_in_any_state(desk: str, open_page: OpenPage, watch: Watch) -> None:
    """In both schemes axe-core finds nothing, no width scrolls sideways, and the style is let through."""
    page = open_page(viewport=PHONE, http_credentials=OWNER)
    for path in ("/owner", "/well", "/long", "/closed"):
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
    """At no width a table is wider than its card, and fingerprints stay in one piece."""
    page = open_page(http_credentials=OWNER)
    page.goto(f"{desk}/wide")
    for width in (360, 710, 760, 962, 1040, 1121, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert (width, sideways(page), page.evaluate(_OVERHANG)) == (width, 0, 0)
        assert page.get_by_text("f96612547420").evaluate("one => one.getClientRects().length") == 1


def test_without_a_script(desk: str, open_page: OpenPage) -> None:
    """Without JavaScript the page is whole: the links at the top lead to their parts, and looking again works."""
    page = open_page(java_script_enabled=False, viewport=PHONE, http_credentials=OWNER)
    page.goto(f"{desk}/owner")
    expect(page.get_by_role("heading", level=1)).to_have_text("7 things need attention")
    page.get_by_role("link", name="Notifications").click()
    expect(page.get_by_role("region", name="Notifications")).to_be_in_viewport()
    page.get_by_role("link", name="Look again").click()
    expect(page).to_have_url(re.compile(r"/owner$"))
    expect(page.get_by_role("table", name="Sales").get_by_role("row")).to_have_count(4)


def test_the_keyboard_reaches_and_shows(desk: str, open_page: OpenPage) -> None:
    """Tab goes from the link on top through what wants the owner to a table's rest; the focus is seen."""
    page = open_page(viewport=DESK, http_credentials=OWNER)
    page.goto(f"{desk}/long")
    for role, name in (("link", "Look again"), ("link", "Receipts of")):
        page.keyboard.press("Tab")
        expect(page.get_by_role(role, name=name)).to_be_focused()  # pyright: ignore[reportArgumentType] two of the roles
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table").nth(1)).to_be_visible()


def test_on_paper(desk: str, open_page: OpenPage) -> None:
    """Printed, the page is dark on white, without its picture and its link, whatever the scheme."""
    page = open_page(color_scheme="dark", viewport=DESK, http_credentials=OWNER)
    page.goto(f"{desk}/owner")
    page.emulate_media(media="print")
    expect(page.get_by_role("link", name="Look again")).to_be_hidden()
    expect(page.locator("svg.sky")).to_be_hidden()
    ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color.match(/\\d+/g).map(Number)")
    assert max(ink) < 80
