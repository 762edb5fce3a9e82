"""A button without a script: a form on any page of a site becomes a session (decision 64).

The form gets an order, and the buyer is sent on to a page of ours by it. Only there is the session made: a double
click sends two forms, of which the browser follows the last one. No two buyers get one session, also behind one
address, since who knows a session's id can open what it buys (decision 46): an order is bound to its browser by
a cookie, and a browser without it gets a session once, which no one is shown again. The page leads on to the
payment page by `Refresh` and a link: a site's `form-action 'self'` forbids that a form's answer leads to another
origin.
"""

from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from orrery.checkout.button.orders import ORDER_SECONDS, Orders
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.errors import UnknownProduct
from orrery.checkout.selling.service import Checkout, Purchase
from orrery.checkout.site.cookie import set_cookie
from orrery.checkout.site.routes import Pages, product_of
from orrery.checkout.sites import CHECKOUT, PAY
from orrery.edge.client_address import ClientAddresses, rate_scopes
from orrery.edge.rate_limit import RateLimit, too_many
from orrery.edge.routes import Routes

_COOKIE, _LIFE = b"orrery-order", timedelta(seconds=ORDER_SECONDS)


@dataclass(frozen=True, slots=True)
class Button:
    """Takes the form, and leads on to the payment page."""

    checkout: Checkout
    orders: Orders
    pages: Pages
    addresses: ClientAddresses
    limit: RateLimit

    def all(self) -> Routes:
        """Return the routes of its pages."""
        router = APIRouter()
        router.add_api_route(PAY, self.pay, methods=["GET", "HEAD"], include_in_schema=False)
        for path in (CHECKOUT, f"{CHECKOUT}/"):
            router.add_api_route(path, self.left, methods=["GET", "HEAD"], include_in_schema=False)
        return Routes(public=[router])

    def take(self, request: Request, product: ProductKey, token: str) -> Response:
        """Return the way to the payment page, or a button of ours where another page may have sent the form."""
        self.pages.show_errors(request, product)
        if not self.pages.catalogue.find(product):
            raise UnknownProduct("There is no such product.")
        came = self.pages.forms.came(request.headers, token)
        if came != "ours":
            return self.pages.ask(request, product, status=403 if came == "elsewhere" else 200)
        browser = self.orders.browser(self.pages.sent(request, product, _COOKIE))
        to = f"{PAY}?product={product.name}&order={self.orders.new(product.name, browser)}"
        cookie = set_cookie(self.pages.catalogue.site_of(product), browser, _COOKIE, _LIFE)
        return RedirectResponse(to, 303, {"Set-Cookie": cookie})

    async def pay(self, request: Request) -> Response:
        """Make the session of an order, and lead on to its payment page; ask again where the order makes none."""
        product, address = product_of(request), self.addresses.of(request)
        self.pages.show_errors(request, product)
        if wait := self.limit.wait(*rate_scopes(address)):
            raise too_many(wait)
        if product is None:
            raise UnknownProduct("The address names no product.")
        order = request.query_params.get("order", "")
        if request.method == "HEAD" or not self.orders.is_good(order, product.name):
            return self.pages.ask(request, product)
        # With a space, which no Idempotency-Key has: the JSON operation gives no session of an order.
        purchase = Purchase(product, address, f"order {order}")
        if self.orders.is_of(order, self.pages.sent(request, product, _COOKIE)):
            session = await self.checkout.create_unpaid(purchase)
        else:
            session = await self.checkout.create_once(purchase)
        return self.pages.lead_on(request, product, session.url) if session else self.pages.ask(request, product)

    async def left(self, request: Request) -> Response:
        """Show a page to a browser that asks for the form's address again, as the page of an outage has it do."""
        return self.pages.page(request, "unstarted", status=405, headers={"Allow": "POST"})
