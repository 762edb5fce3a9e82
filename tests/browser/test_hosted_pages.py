"""The hosted pages in a real browser: in every language, on a phone and a desk, in the light and in the dark."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from orrery.checkout.settings import SiteSettings
from orrery.checkout.site.pages import HostedPage
from orrery.edge.headers import SecurityHeaders
from tests.browser.accessibility import violations_in_both_schemes
from tests.browser.conftest import looks
from tests.support.hosted import WORDS
from tests.support.serving import served
from tests.support.soak import SOAKING
from tests.support.tables import each_case

LINKS = {"home": "/", "practice": "/practice", "lost": "/guided/lost", "back": "/back", "again": "/again"}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Serve every hosted page of a site, and return its address."""

    async def show(request: Request) -> Response:
        given = {"name": "Northwind", "origin": "https://n.example", "colour": "#0a5c36"}
        own = SiteSettings.model_validate(given | {"language": request.path_params["language"]}).site()
        until = datetime(2027, 11, 21, tzinfo=UTC)
        name = request.path_params["name"]
        page = HostedPage(name=name, site=own, product="Cloud Navigator", until=until, links=LINKS)
        policy = {"Content-Security-Policy": page.headers()["Content-Security-Policy"]}
        return HTMLResponse(page.html(), headers=policy)

    with served(SecurityHeaders(Starlette(routes=[Route("/{language}/{name}", show)]))) as url:
        yield url


@each_case("name", ["pending", "opened", "closed", "link", "lost"])
def test_no_page_has_a_barrier(name: str, site: str, page: Page) -> None:
    """axe-core finds nothing in a page of each shape, with a site's own colour, in the light and in the dark."""
    page.goto(f"{site}/en/{name}")
    assert violations_in_both_schemes(page) == []
    for look in looks(page):
        red = page.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
        assert (red > 200) == look.endswith("light")


def longest(name: str) -> list[str]:
    """Return the language in which most is written on a page; in a soak all."""
    by_length = sorted(WORDS, key=lambda one: len(str(WORDS[one]["pages"][name])))
    return by_length if SOAKING else by_length[-1:]


@each_case(("language", "name"), [(one, name) for name in WORDS["en"]["pages"] for one in longest(name)])
def test_every_page_fits_a_phone(language: str, name: str, site: str, page: Page) -> None:
    """No page scrolls sideways, with the words of the language that needs most of them."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site}/{language}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_keyboard_is_enough(site: str, page: Page) -> None:
    """Tab reaches the field and the button, and what has the focus shows it."""
    page.goto(f"{site}/en/lost")
    for reached in (page.get_by_role("link", name="Northwind"), page.get_by_label("Your e-mail address")):
        page.keyboard.press("Tab")
        expect(reached).to_be_focused()
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.type("not an address")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your e-mail address")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Send the link")).to_be_focused()
