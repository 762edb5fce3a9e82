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
from orrery.sandbox.site import create_site
from tests.browser.conftest import OpenPage, Watch
from tests.browser.live_widgets import live_routes
from tests.support.serving import served

END = "2027-11-21T09:30:00Z"


@dataclass
class OperationsStub:
    """`access` maps session ids to states; `answer`, when set, is given instead of any other.

    `payment_url` is where a checkout leads.
    """

    access: dict[str, str] = field(default_factory=dict[str, str])
    answer: Response | None = None
    payment_url: str = "http://127.0.0.1:1/pay"
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    bodies: list[object] = field(default_factory=list[object])

    def routes(self) -> list[Path]:
        """Return the routes."""
        return [
            Path("/guided/api/checkout", self.check_out, methods=["POST"]),
            Path("/guided/api/access/{session_id}", self.read),
        ]

    async def check_out(self, request: Request) -> Response:
        """Return one session for each idempotency key."""
        await self._take(request)
        key = request.headers["Idempotency-Key"]
        session = self.sessions.setdefault(key, f"cs_test_{len(self.sessions) + 1}")
        return self.answer or JSONResponse({"id": session, "url": f"{self.payment_url}/{session}"})

    async def read(self, request: Request) -> Response:
        """Return the state of an access."""
        await self._take(request)
        state = self.access.get(request.path_params["session_id"])
        missing = {"error": "unknown-session", "message": "No such session."}
        found = {"state": state, "expires_at": END if state in ("granted", "ended") else None}
        return self.answer or (JSONResponse(found) if state else JSONResponse(missing, 404))

    async def _take(self, request: Request) -> dict[str, str]:
        body: dict[str, str] = await request.json() if request.method == "POST" else {}
        self.bodies.append(body)
        return body


PRACTICE = "/practice/northwind/cloud-navigator"
PHONE = {"width": 360, "height": 740}
BUYER = "cs_test_buyer"


@dataclass
class Planet:
    """A running site with its remote."""

    url: str
    operations: OperationsStub

    @property
    def success(self) -> str:
        """Return where the payment page sends a buyer."""
        return f"{self.url}/success?session_id={BUYER}"

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
    with served(Starlette(routes=[Path("/{session}", payment_page)])) as payment:
        operations = OperationsStub(access={BUYER: "granted"}, payment_url=payment)
        routes = [*operations.routes(), *live_routes(), Mount("/", create_site())]
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


def test_success_turns_to_access_by_itself(planet: Planet, page: Page) -> None:
    """The waiting page becomes "Access until" once the access is granted, without a click or a reload."""
    planet.operations.access[BUYER] = "pending"
    page.goto(planet.success)
    expect(page.get_by_role("status")).to_contain_text("Confirming your payment…")
    planet.operations.access[BUYER] = "granted"
    expect(page.get_by_role("heading", level=1)).to_have_text("Access until 21 November 2027")
    expect(page).to_have_title("Access until 21 November 2027 · Demo Planet")
    page.get_by_role("link", name="Start practising").click()
    expect(page.get_by_role("group")).to_have_count(6)


def test_open_turns_to_access_by_itself(planet: Planet, page: Page) -> None:
    """A buyer who pays in another tab is let in by the page that said that the payment was not completed."""
    planet.operations.access[BUYER] = "open"
    page.goto(planet.success)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your payment is not completed")
    planet.operations.access[BUYER] = "granted"
    page.get_by_role("link", name="Start practising").click()
    expect(page.get_by_role("group")).to_have_count(6)


def test_a_failed_payment_leads_back_to_the_shop(planet: Planet, page: Page) -> None:
    """When the payment fails, the page says that nothing was taken, leads to the shop, and stops asking."""
    for before in ("open", "pending"):
        planet.operations.access[BUYER] = before
        page.goto(planet.success)
        planet.operations.access[BUYER] = "failed"
        expect(page.get_by_role("heading", level=1)).to_have_text("The payment did not go through")
        expect(page.get_by_role("status")).to_contain_text("Nothing was taken")
        page.get_by_role("link", name="Back to the shop").click()
        expect(page.get_by_role("button", name="Buy")).to_be_visible()


def test_success_survives_a_service_that_is_away(planet: Planet, page: Page, watch: Watch) -> None:
    """While the access cannot be read, the page waits; afterwards it turns all the same."""
    planet.operations.answer = PlainTextResponse("", 503)
    page.goto(planet.success)
    with page.expect_response("**/guided/api/access/*"):
        expect(page.get_by_role("status")).to_contain_text("Confirming your payment…")
    planet.operations.answer = None
    expect(page.get_by_role("heading", level=1)).to_contain_text("Access until")
    watch.forgive("503")


def test_success_gives_up_politely(planet: Planet, open_page: OpenPage) -> None:
    """After three minutes the page says what to do, does not ask for a second payment, and stops asking."""
    page = open_page()
    planet.operations.access[BUYER] = "pending"
    page.clock.install()
    page.goto(planet.success)
    for _ in range(40):
        page.clock.run_for(5_000)
    expect(page.get_by_role("status")).to_contain_text("Do not pay again")
    asked = len(planet.operations.bodies)
    assert 15 <= asked <= 40
    page.clock.run_for(60_000)
    assert len(planet.operations.bodies) == asked


def enter(planet: Planet, page: Page) -> None:
    """Come from the payment page, and go to the questions."""
    page.goto(planet.success)
    expect(page.get_by_role("status")).to_have_attribute("data-access", "granted")
    page.goto(planet.practice)


SHOWN = {
    "open": "Nothing was charged",
    "pending": "Do not pay again",
    "granted": "Payment received",
    "ended": "it ended on 21 November 2027",
    "failed": "Nothing was taken",
    None: "did not start",
}
"""What the success page says of each state of a session; None is one that Orrery does not know (decision 48)."""


def test_each_state_has_its_words(planet: Planet, page: Page, watch: Watch) -> None:
    """The page says what is so, calls a granted access alone paid, and leads who did not pay to the shop."""
    for state, words in SHOWN.items():
        planet.operations.access = {} if state is None else {BUYER: state}
        page.goto(planet.success)
        told = page.get_by_role("status")
        expect(told).to_contain_text(words)
        assert ("Payment received" in told.inner_text()) == (state == "granted")
        expect(told.get_by_role("link", name="shop")).to_have_count(int(state in {"open", "failed", None}))
    watch.forgive("404")


def test_an_open_payment_may_become_a_pending_one(planet: Planet, open_page: OpenPage) -> None:
    """A buyer who comes back before the payment, and then pays by a method whose money comes later."""
    page = open_page()
    planet.operations.access = {BUYER: "open"}
    page.clock.install()
    page.goto(planet.success)
    told = page.get_by_role("status")
    expect(told).to_contain_text(SHOWN["open"])
    planet.operations.access = {BUYER: "pending"}
    page.clock.run_for(20_000)
    expect(told).to_contain_text(SHOWN["pending"])


def test_what_is_no_session_is_not_asked_for(planet: Planet, page: Page) -> None:
    """What cannot be a session's id is never put into an address."""
    for session in ("", "../check", f"{BUYER}%3Fx", f"x/../{BUYER}", "cs_%C3%A9", "cs_" + "x" * 300):
        page.goto(f"{planet.url}/success?session_id={session}")
        expect(page.get_by_role("heading", level=1)).to_have_text("We do not know this payment")
        assert planet.operations.bodies == []


def test_what_opens_nothing_is_not_remembered(planet: Planet, page: Page) -> None:
    """A session that was not paid does not take the place of the one that opens the questions."""
    page.goto(planet.success)
    expect(page.get_by_role("status")).to_have_attribute("data-access", "granted")
    for state in ("open", "failed"):
        planet.operations.access["cs_test_other"] = state
        page.goto(f"{planet.url}/success?session_id=cs_test_other")
        expect(page.get_by_role("status")).to_have_attribute("data-access", state)
        page.goto(planet.practice)
        expect(page.get_by_role("group")).to_have_count(6)


CLOSED = {
    "pending": (None, "come with a year of access"),
    "ended": (None, "come with a year of access"),
    "away": (PlainTextResponse("<html>granted</html>", 502), "stays closed"),
    "refused": (JSONResponse({"error": "store-unavailable", "message": "Later."}, 503), "stays closed"),
    "unread": (JSONResponse({}), "stays closed"),
}


def test_questions_are_shown_for_an_open_access_only(planet: Planet, page: Page, watch: Watch) -> None:
    """Without an access that is granted now, or without a proper answer about it, no question is shown."""
    page.goto(planet.success)
    expect(page.get_by_role("status")).to_have_attribute("data-access", "granted")
    for case, (answer, words) in CLOSED.items():
        planet.operations.access[BUYER] = case
        planet.operations.answer = answer
        page.goto(planet.practice)
        expect(page.get_by_role("main")).to_contain_text(words)
        expect(page.get_by_role("group")).to_have_count(0)
    for status in ("502", "503"):
        watch.forgive(status)


def test_questions_are_answered_with_the_keyboard(planet: Planet, page: Page) -> None:
    """Arrow keys choose, Enter checks that question, and the verdict is announced with its reason."""
    enter(planet, page)
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
    enter(planet, page)
    first = page.get_by_role("group").first
    first.get_by_role("button").click()
    expect(first.get_by_role("status")).to_have_text("Choose an answer first.")


def test_order_opens_another_browser(planet: Planet, page: Page) -> None:
    """A buyer in another browser brings the order from the e-mail and gets in."""
    page.goto(planet.practice)
    page.get_by_label("Your order").fill(BUYER)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Start practising").click()
    expect(page.get_by_role("group")).to_have_count(6)


def test_pages_fit_a_phone(planet: Planet, open_page: OpenPage, watch: Watch) -> None:
    """At 360 px no page scrolls sideways, and pages follow the colour scheme."""
    page = open_page(viewport=PHONE)
    for path in (
        "/",
        "/analytics",
        "/admin",
        "/cancelled",
        "/nowhere",
        PRACTICE,
        f"/success?session_id={BUYER}",
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
