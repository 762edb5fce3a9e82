"""A site's page with the buy button, on the origin of a running service."""

from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import Page, Request, Route, expect

from tests.support.deployment import Deployment

STRICT = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'; style-src 'self'; "
    "base-uri 'none'; require-trusted-types-for 'script'"
)
HOSTILE = """
* { all: unset }
* { color: transparent; font-size: 0; line-height: 0; letter-spacing: 9em; text-indent: -9em; visibility: hidden }
button, b, span, p, div { display: none !important }
"""
FORM = """<form method="post" action="/guided/api/checkout">
  <input type="hidden" name="productType" value="cert"><input type="hidden" name="certCode" value="exam">
  <input type="hidden" name="vendorSlug" value="northwind"><button>Get the questions</button>
</form>"""
BUY = f'<orrery-buy vendor="northwind" cert="exam">{FORM}</orrery-buy>'

Answer = Callable[[Route], None]


@dataclass
class Site:
    """A site's pages on the origin of the service, as its web server gives them; `asked` holds its orders."""

    shop: Deployment
    page: Page
    script: str = '<script type="module" src="/guided/buy.js"></script>'
    asked: list[Request] = field(default_factory=list[Request])

    def __post_init__(self) -> None:
        self.page.on("request", self._remember)

    def open(self, markup: str = BUY, lang: str = "en", more: str = "", css: str = "") -> None:
        """Open a page with this markup; `more` is further attributes of the page's root."""
        body = (
            f'<!doctype html><html lang="{lang}" {more}><meta name="viewport" content="width=device-width">'
            '<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="/shop.css">'
            f"<title>Exam</title>{self.script}<body><main><h1>Exam</h1>{markup}</main>"
        )
        headers = {"Content-Security-Policy": STRICT, "Content-Type": "text/html; charset=utf-8"}
        self.page.route(f"{self.shop.public}/shop", lambda route: route.fulfill(body=body, headers=headers))
        self.page.route(
            f"{self.shop.public}/shop.css", lambda route: route.fulfill(body=css, content_type="text/css")
        )
        self.page.goto(f"{self.shop.public}/shop")

    def orders(self, answer: Answer) -> None:
        """From now on, let what happens on the way to the service be this."""
        self.page.unroute("**/guided/api/checkout")
        self.page.route("**/guided/api/checkout", answer)

    def hold(self) -> Callable[[], Route]:
        """From now on, let orders wait; return what returns the one that does, once it has come."""
        held: list[Route] = []
        self.orders(lambda route: held.append(route))  # noqa: PLW0108  Playwright marks what it is given

        def came() -> Route:
            while not held:
                self.page.evaluate("null")  # Playwright hands over what came meanwhile
            return held.pop()

        return came

    def products(self) -> list[str | None]:
        """Return the certification codes that were ordered."""
        return [one.post_data_json["certCode"] if one.post_data_json else None for one in self.asked]

    def sessions(self) -> int:
        """Return how many sessions the sandbox has for the product."""
        return len(self.shop.sandbox.sessions("exam"))

    def _remember(self, request: Request) -> None:
        if request.url.endswith("/guided/api/checkout"):
            self.asked.append(request)


def await_payment(page: Page) -> None:
    """Wait for the payment page."""
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()


def refuse(status: int, **headers: str) -> Answer:
    """Answer as a web server or a service that refuses."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda route: route.fulfill(status=status, body="<h1>no JSON</h1>", headers=sent)


def unsold(route: Route) -> None:
    """Answer as the service does for a product that has no price."""
    route.fulfill(status=503, json={"error": "not-configured", "message": "This part is not available."})


def pass_on(route: Route) -> None:
    """Let the service answer."""
    route.continue_()


def offline(route: Route) -> None:
    """Reach nothing."""
    route.abort("internetdisconnected")
