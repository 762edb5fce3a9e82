"""What a site's pages show of the products: what a visitor pays, looked up once a minute for all."""

import json
from typing import Any

import httpx2
import pytest

from orrery.checkout.selling.price_list import KEPT
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.errors import NotConfigured, StoreUnavailable
from orrery.ports.processor import ItemUnreadable, Price, ProcessorUnreachable
from tests.support.checkout import OTHER, PRODUCT, Shop
from tests.support.clock import ManualClock
from tests.support.hosted import HostedShop
from tests.support.rehearsal import Rehearsal
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

TODAY = Price("price_cissp", active=True, amount=5900, currency="eur", product=None)


class Page:
    """A site's page that shows prices."""

    def __init__(self, shop: Shop) -> None:
        routes = shop.routes()
        self.app = public_app(routes.public, routes.direct, found(), Metrics())

    async def ask(self, **headers: str) -> httpx2.Response:
        """Ask for the products."""
        async with client_of(self.app) as client:
            return await client.get("/guided/api/products", headers=headers)

    async def shown(self) -> list[tuple[str, Any, Any, Any]]:
        """Return each product with what stands beside it."""
        listed = (await self.ask()).json()
        return [(one["cert"], one["sold"], one["price"], one["currency"]) for one in listed]


async def test_each_field() -> None:
    """A product with its site, and today's price where nothing is sold for real money."""
    shop = HostedShop()
    shop.processor.active_price = TODAY
    first, second = (await Page(shop).ask()).json()
    assert first == {
        "vendor": "isc2",
        "cert": "cissp",
        "title": "CISSP",
        "site": "North",
        "sold": True,
        "price": 5900,
        "currency": "eur",
        "decimals": 2,
    }
    assert (second["sold"], second["price"], second["currency"]) == (True, None, None)


async def test_in_live_mode_the_price_is_the_receipts() -> None:
    """Without a receipt there is no price and no sale; a changed price reaches no page before its preflight."""
    rehearsal = Rehearsal(products=(PRODUCT, OTHER))
    rehearsal.till.active_price = TODAY
    assert await Page(rehearsal).shown() == [("cissp", False, None, None), ("ccsp", False, None, None)]
    await rehearsal.preflighted("isc2/cissp")
    receipt = await rehearsal.receipt()
    assert receipt
    assert receipt.amount_total
    sold = ("cissp", True, receipt.amount_total, receipt.currency)
    assert await Page(rehearsal).shown() == [sold, ("ccsp", False, None, None)]


async def test_visitors_cost_nothing(clock: ManualClock, store: UnreliableStore) -> None:
    """However many ask, the processor and the store are asked once a minute."""
    shop = HostedShop(clock, store)
    shop.processor.active_price = TODAY
    page = Page(shop)
    first = await page.ask()
    reads, shop.processor.active_price = store.reads, None
    assert [(await page.ask()).content for _ in range(20)] == [first.content] * 20
    assert store.reads == reads
    clock.advance(KEPT)
    assert (await page.shown())[0] == ("cissp", True, None, None)


async def test_what_a_cache_gets(clock: ManualClock) -> None:
    """A minute, a validator that changes with the list, and leave for any page to read it."""
    shop = HostedShop(clock)
    page = Page(shop)
    answer = await page.ask(Origin="https://elsewhere.example")
    assert answer.headers["cache-control"] == f"public, max-age={KEPT}"
    assert answer.headers["access-control-allow-origin"] == "*"
    same = await page.ask(**{"If-None-Match": answer.headers["etag"]})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", answer.headers["etag"])
    shop.processor.active_price = TODAY
    clock.advance(KEPT)
    assert (await page.ask(**{"If-None-Match": answer.headers["etag"]})).status_code == 200


@each_case("error", [ProcessorUnreachable("Away.", same_key=True), NotConfigured("No key.")])
async def test_a_processor_that_tells_no_price(error: Exception) -> None:
    """The products are listed and sold, without a price; one that cannot be read takes no other away."""
    shop = HostedShop()
    shop.processor.active_price = TODAY
    shop.processor.before["price"] = [error]
    shop.processor.unreadable = [ItemUnreadable("price", "price_x", ("currency",))]
    page = Page(shop)
    assert (await page.shown())[0] == ("cissp", True, None, None)
    shop.clock.advance(KEPT)
    assert (await page.shown())[0] == ("cissp", True, 5900, "eur")


async def test_receipts_that_cannot_be_read(clock: ManualClock, store: UnreliableStore) -> None:
    """The answer is 503, and the next one is right."""
    shop = HostedShop(clock, store)
    page = Page(shop)
    store.get_errors = [StoreUnavailable("It is full.")]
    refused = await page.ask()
    assert (refused.status_code, json.loads(refused.content)["error"]) == (503, "store-unavailable")
    assert (await page.ask()).status_code == 200
