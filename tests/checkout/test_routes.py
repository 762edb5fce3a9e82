"""The checkout's public operations over HTTP (spec 1, Endpoints; decisions 3, 11, 14, 47)."""

from typing import Any

import httpx2
import pytest

from orrery.checkout.catalogue import Product
from orrery.checkout.desk import Gift
from orrery.checkout.routes import PREFIX, CheckoutRoutes
from orrery.edge.client_address import ClientAddresses
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.edge.ratelimit import Limit, RateLimit
from orrery.ports.health import Finding
from tests.support.checkout import BUYER, OTHER, PRODUCT, Shop
from tests.support.requests import client_of

pytestmark = pytest.mark.anyio

TOKEN = "the practice site's token"  # noqa: S105  a token of the tests
SAME_CODE = Product("northwind", "cissp", "CISSP basics", "price_cheap")
CHECK = f"{PREFIX}/access/check"


async def ask(shop: Shop, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:  # noqa: ANN401  any JSON
    """Send one request to a shop's operations."""

    async def well() -> list[Finding]:
        return []

    routes = CheckoutRoutes(
        checkout=shop.checkout,
        webhook=shop.webhook,
        lookup=shop.lookup,
        addresses=ClientAddresses(),
        limit=RateLimit(shop.clock, Limit(10, 60)),
        service_token=TOKEN.encode(),
    )
    app = public_app([routes.router()], routes.direct(), well, Metrics())
    async with client_of(app) as client:
        return await client.request(method, path, json=body, headers=headers)


async def check(shop: Shop, **asked: str) -> httpx2.Response:
    """Ask as the practice site does."""
    return await ask(shop, "POST", CHECK, asked, Authorization=f"Bearer {TOKEN}")


async def test_a_check_names_the_product_by_the_pair() -> None:
    """The practice site names certification and vendor; the purchase opens that product and no other."""
    shop = Shop(products=(PRODUCT, SAME_CODE, OTHER))
    await shop.desk.grant(Gift(BUYER, SAME_CODE.key, "owner"), "a test")
    for product, granted in ((SAME_CODE, True), (PRODUCT, False)):
        answer = await check(shop, email=BUYER, certCode="cissp", vendorSlug=product.vendor_slug)
        assert (answer.status_code, answer.json()["granted"]) == (200, granted)


async def test_a_check_of_a_shared_code_without_its_vendor() -> None:
    """It answers 422 and names the field, by address and by session; a code of one vendor needs none."""
    shop = Shop(products=(PRODUCT, SAME_CODE, OTHER))
    for who in ({"email": BUYER}, {"sessionId": "cs_1"}):
        answer = await check(shop, certCode="cissp", **who)
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid-field")
        assert answer.json()["message"].startswith("vendorSlug: ")
        assert (await check(shop, certCode="ccsp", **who)).status_code == 200
