"""The demo planet in a real browser, beside a tiny remote that stands for Orrery's public operations."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, Route, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount
from starlette.routing import Route as Path

from orrery.edge.headers import SecurityHeaders
from orrery.sandbox.site import PRACTICE, create_site
from tests.browser.conftest import OpenPage, Watch
from tests.browser.live_widgets import live_routes
from tests.support.serving import served
from tests.support.tables import each_case


@dataclass
class OperationsStub:
    """`gate` is the answer of the access gate; `answer`, when set, is given instead of a session.

    `payment_url` is where a checkout leads.
    """

    gate: int = 204
    answer: Response | None = None
    payment_url: str = "http://127.0.0.1:1/pay"
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    bodies: list[object] = field(default_factory=list[object])

    def routes(self) -> list[Path]:
        """Return the routes."""
        return [Path("/guided/api/checkout", self.check_out, methods=["POST"])]

    async def at_the_gate(self, _: Request) -> Response:
        """Answer as the access gate."""
        return Response(status_code=self.gate)

    async def check_out(self, request: Request) -> Response:
        """Return one session for each idempotency key."""
        self.bodies.append(await request.json())
        key = request.headers["Idempotency-Key"]
        session = self.sessions.setdefault(key, f"cs_test_{len(self.sessions) + 1}")
        return self.answer or JSONResponse({"id": session, "url": f"{self.payment_url}/{session}"})


PHONE = {"width": 360, "height": 740}


@dataclass
class Planet:
    """A running site with its remote."""

    url: str
    operations: OperationsStub

    @property
    def practice(self) -> str:
        """Return the practice page."""
        return self.url + PRACTICE


async def payment_page(request: Request) -> Response:
    """Stand for the hosted payment page."""
    return PlainTextResponse(f"Pay for {request.path_params['session']}")


@pytest.fixture
def page(lent_page: Page) -> Page:
    """Return the page of this module."""
    return lent_page


@pytest.fixture
def planet() -> Iterator[Planet]:
    """Serve the site, and a payment page on another origin that may not be led to by any other form."""
    operations = OperationsStub()
    behind = [Path("/guided/api/gate/{product:path}", operations.at_the_gate), Path("/{session}", payment_page)]
    with served(Starlette(routes=behind)) as operations.payment_url:
        routes = [*operations.routes(), *live_routes(), Mount("/", create_site(operations.payment_url))]
        with served(SecurityHeaders(Starlette(routes=routes))) as url:
            yield Planet(url, operations)


def test_buy_leads_to_the_payment_page(planet: Planet, page: Page) -> None:
    """Buy starts one checkout of this product and opens its payment page."""
    page.goto(planet.url)
    expect(page.get_by_role("status")).to_be_empty()
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_text("Pay for cs_test_1")).to_be_visible()
    assert planet.operations.bodies == [
        {"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"}
    ]


def test_double_click_starts_one_checkout(planet: Planet, page: Page) -> None:
    """A double click is one intent: one request, one session."""
    page.goto(planet.url)
    page.get_by_role("button", name="Buy").dblclick()
    expect(page.get_by_text("Pay for cs_test_1")).to_be_visible()
    assert len(planet.operations.bodies) == 1


def test_buying_again_after_going_back_is_a_new_intent(planet: Planet, page: Page) -> None:
    """Anyone who comes back from the payment page and buys again gets a session of its own."""
    page.goto(planet.url)
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_text("Pay for cs_test_1")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Buy one year").click()
    expect(page.get_by_text("Pay for cs_test_2")).to_be_visible()


def test_lost_answer_is_tried_again_under_the_same_key(planet: Planet, page: Page, watch: Watch) -> None:
    """When the answer of a checkout is lost, the next click repeats the same intent."""
    keys: list[str] = []

    def lose_the_first_answer(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.abort() if len(keys) == 1 else route.continue_()

    page.route("**/guided/api/checkout", lose_the_first_answer)
    page.goto(planet.url)
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_role("status")).to_contain_text("nothing was charged")
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_text("Pay for cs_test_1")).to_be_visible()
    watch.forgive("ERR_FAILED")
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_refusal_is_announced_and_the_button_works_again(planet: Planet, page: Page, watch: Watch) -> None:
    """A refusal appears in the live region in the operation's words, and Buy can be pressed again."""
    planet.operations.answer = JSONResponse({"error": "busy", "message": "Too many attempts."}, 429)
    page.goto(planet.url)
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_role("status")).to_have_text("Too many attempts.")
    expect(page.get_by_role("button", name="Buy")).to_have_attribute("aria-disabled", "false")
    planet.operations.answer = None
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_text("Pay for cs_test")).to_be_visible()
    watch.forgive("429")


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
    planet.operations.gate = answer
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
