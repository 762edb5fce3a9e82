"""What a real browser sends, for a page that a person looks at and for one that it fetches in advance."""

from dataclasses import dataclass, field

from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.checkout.site.forms import is_visit
from tests.support.serving import served
from tests.support.tables import each_case
from tests.support.waiting import until

_RULES = '{"prerender": [{"urls": ["/back"], "eagerness": "immediate"}]}'
_WAYS = {
    "prefetch": '<link rel="prefetch" href="/back">',
    "prerender": f'<script type="speculationrules">{_RULES}</script>',
    "frame": '<iframe src="/back"></iframe>',
    "script": '<script>fetch("/back")</script>',
    "link": '<a href="/back">Go on</a>',
    "redirect": '<a href="/paid">Go on</a>',
    "assign": "<button onclick=\"location.assign('/paid')\">Go on</button>",
}


@dataclass
class Shop:
    """A site whose page leads to `/back` in one way, with what was seen there: whether it was a visit."""

    visits: list[bool] = field(default_factory=list[bool])

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/from/{way}", self.lead), Route("/paid", self.pay), Route("/back", self.back)]

    def lead(self, request: Request) -> Response:
        """Show the page that leads to the other one."""
        return HTMLResponse(_WAYS[request.path_params["way"]])

    def pay(self, _: Request) -> Response:
        """Send the browser back, as the payment page does."""
        return RedirectResponse("/back", 303)

    def back(self, request: Request) -> Response:
        """Answer as the page after a payment."""
        self.visits.append(is_visit(request.headers))
        return HTMLResponse("<h1>Paid</h1>")


@each_case(("way", "visited"), [(way, way in {"link", "redirect", "assign"}) for way in _WAYS])
def test_what_a_browser_sends(way: str, visited: bool, page: Page) -> None:  # noqa: FBT001  a column of the table
    """Each way to the page after a payment: what no person looks at takes no first browser's place."""
    shop = Shop()
    with served(Starlette(routes=shop.routes())) as url:
        page.goto(f"{url}/from/{way}")
        if visited:
            page.get_by_text("Go on").click()
            expect(page.get_by_role("heading")).to_have_text("Paid")
        until(lambda: shop.visits)
        assert shop.visits == [visited]
