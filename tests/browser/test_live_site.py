"""The live counter on the demo planet's own pages: where it stands, and that it leaves no gap when hidden."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.routing import Mount

from orrery.edge.headers import SecurityHeaders
from orrery.sandbox.site import create_site
from tests.browser.conftest import OpenPage
from tests.browser.live_widgets import Network, button_routes
from tests.support.serving import served

PAGES = [{"page": "Cloud Navigator", "path": "/", "users": 9}, {"page": "Practice", "path": None, "users": 3}]
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Serve the site, and return its address."""
    routes = [*button_routes(), Mount("/", create_site("http://127.0.0.1:1"))]
    with served(SecurityHeaders(Starlette(routes=routes))) as url:
        yield url


def visit(page: Page, url: str, count: int = 12) -> Network:
    """Open a page of the site whose counter gives this count."""
    network = Network(page)
    network.counts(count, active=count, pages=PAGES)
    network.visit(url)
    return network


def test_front_page_has_two_pills_and_one_question(site: str, page: Page) -> None:
    """The bar and the front page show the count, from one question."""
    network = visit(page, site)
    expect(page.get_by_text("12 live", exact=True)).to_be_visible()
    expect(page.get_by_text("12 live on all our sites")).to_be_visible()
    assert len(network.asked) == 1


def test_other_pages_have_the_pill_in_the_bar(site: str, page: Page) -> None:
    """A page that is not the front page has the bar's pill only."""
    visit(page, f"{site}/analytics")
    expect(page.get_by_role("banner").get_by_text("12 live", exact=True)).to_be_visible()
    expect(page.locator("live-pill")).to_have_count(1)


def test_hidden_pill_leaves_no_gap(site: str, page: Page) -> None:
    """With nobody there, the bar and the front page look as if there were no pill."""
    places = "['nav', '.gains'].map((name) => document.querySelector(name).getBoundingClientRect().y)"
    visit(page, site, 0)
    with_hidden = page.evaluate(places)
    page.evaluate("document.querySelectorAll('live-pill, .live-slot').forEach((each) => each.remove())")
    assert page.evaluate(places) == with_hidden


def test_analytics_is_a_page_of_the_site(site: str, page: Page) -> None:
    """Live in the navigation leads to the tile."""
    visit(page, site)
    page.get_by_role("link", name="Live").click()
    expect(page.get_by_role("region", name="Live")).to_contain_text("12 people in the last 30 minutes")
    expect(page.get_by_role("link", name="Live")).to_have_attribute("aria-current", "page")


def test_owners_page_asks_for_the_password(site: str, page: Page) -> None:
    """For the owner, in the footer, leads to a page that shows nothing without the password."""
    network = visit(page, site)
    page.get_by_role("link", name="For the owner").click()
    expect(page.get_by_label("Admin password")).to_be_visible()
    assert not [request for request in network.asked if "intel" in request.url]


def test_pages_with_widgets_fit_a_phone(site: str, open_page: OpenPage) -> None:
    """At 360 px no page with a visible widget scrolls sideways."""
    page = open_page(viewport=PHONE)
    visit(page, site, 123456)
    for path in ("/", "/analytics", "/admin"):
        page.goto(site + path)
        expect(page.get_by_role("banner").locator("live-pill")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
