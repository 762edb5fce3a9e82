"""The demo planet in a real browser, beside a tiny access gate."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.routing import Route as Path

from orrery.edge.headers import SecurityHeaders
from orrery.sandbox.site import create_site, sites
from tests.browser.conftest import OpenPage, Watch
from tests.browser.live_widgets import live_routes
from tests.support.serving import served
from tests.support.tables import each_case

PRACTICE = sites()[0].products[0].practice
PHONE = {"width": 360, "height": 740}


@dataclass
class Planet:
    """A running site; `gate` is the answer of the access gate that it asks."""

    url: str = ""
    gate: int = 204

    @property
    def practice(self) -> str:
        """Return the practice page."""
        return self.url + PRACTICE

    async def at_the_gate(self, _: Request) -> Response:
        """Answer as the access gate."""
        return Response(status_code=self.gate)


@pytest.fixture
def planet() -> Iterator[Planet]:
    """Serve the site, and the access gate that it asks."""
    planet = Planet()
    with served(Starlette(routes=[Path("/guided/api/gate/{product:path}", planet.at_the_gate)])) as gate:
        routes = [*live_routes(), Mount("/", create_site(gate))]
        with served(SecurityHeaders(Starlette(routes=routes))) as planet.url:
            yield planet


def test_questions_are_answered_with_the_keyboard(planet: Planet, page: Page) -> None:
    """Arrow keys choose, Enter checks that question, and the verdict is announced with its reason."""
    page.goto(planet.practice)
    second = page.get_by_role("group").nth(1)
    second.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(second.get_by_role("status")).to_contain_text("Not quite.")
    page.keyboard.press("ArrowUp")
    expect(second.get_by_role("status")).to_be_empty()
    page.keyboard.press("Enter")
    expect(second.get_by_role("status")).to_contain_text("Correct.")
    expect(page.get_by_role("navigation", name="Questions").get_by_role("status")).to_have_text(
        "1 of 1 right. 5 to go."
    )


def test_checking_nothing_asks_for_an_answer(planet: Planet, page: Page) -> None:
    """Check without a choice says so."""
    page.goto(planet.practice)
    first = page.get_by_role("group").first
    first.get_by_role("button").click()
    expect(first.get_by_role("status")).to_have_text("Choose an answer first.")


@each_case(
    ("answer", "led"),
    [
        (401, "/guided/lost?product=northwind/cloud-navigator&back=/practice/northwind/cloud-navigator"),
        (403, "/guided/ended?product=northwind/cloud-navigator"),
        (503, ""),
        (302, ""),
    ],
)
def test_the_gate_decides(answer: int, led: str, planet: Planet, page: Page) -> None:
    """A browser without access is led to a hosted page; while the gate cannot answer, the page stays closed."""
    planet.gate = answer
    found = page.request.get(planet.practice, max_redirects=0)
    assert found.headers.get("location", "") == led
    assert found.status == (303 if led else 503)
    assert "question-1" not in found.text()


def test_pages_fit_a_phone(planet: Planet, open_page: OpenPage, watch: Watch) -> None:
    """At 360 px no page scrolls sideways, and pages follow the colour scheme."""
    page = open_page(viewport=PHONE)
    for path in (
        "/",
        "/analytics",
        "/admin",
        "/nowhere",
        PRACTICE,
    ):
        page.goto(planet.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            red = page.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
            assert (red > 200) == (scheme == "light")
    watch.forgive("404")


def test_reduced_motion_stills_the_sky(planet: Planet, open_page: OpenPage) -> None:
    """A reader who asks for less motion sees the planets at rest."""
    page = open_page(reduced_motion="reduce")
    page.goto(planet.url)
    assert (
        page.evaluate("document.getAnimations().filter((each) => each.effect.target.matches('.arm')).length") == 0
    )
