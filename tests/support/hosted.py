"""A shop whose site has the hosted pages, and a browser that visits them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import httpx2

from orrery.checkout.settings import SiteSettings
from orrery.checkout.sites import GATE, Site
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.ports.store import Store
from orrery.runtime.outbox import Outbox
from orrery.runtime.references import References, ReferringNotifier
from tests.support.checkout import INDEX_KEY, PRODUCT, Shop, session_json
from tests.support.clock import ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.requests import client_of
from tests.support.rounds import found

NORTH = SiteSettings(
    origin="http://127.0.0.1", name="North", practice_url="http://127.0.0.1/practice/{certCode}/"
).site()

WORDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("orrery").joinpath("web/guided/words.toml").read_text(encoding="utf-8")
)

BACK = "/guided/success?session_id=cs_1"
OPENED = f"/guided/success?product={PRODUCT.name}&opened"

OF_PAGE = {"Sec-Fetch-Site": "same-origin"}

LOOKED_AT = {"Sec-Fetch-Dest": "document"}
"""What a browser sends for a page that a person looks at."""


async def sold(shop: Shop, session_id: str = "cs_1", **other: object) -> None:
    """Sell a session as a webhook does."""
    await shop.offered(session_id)
    _ = await shop.receive(f"evt_{session_id}", session_json(session_id, **other))


async def links(shop: Shop) -> list[str]:
    """Deliver what waits, and return the links in the e-mails, the oldest first."""
    notifier = ScriptedNotifier()
    referring = ReferringNotifier(notifier, References.of_store(INDEX_KEY))
    _ = await Outbox(shop.store, shop.clock, {"email": referring}).deliver_due("email")
    lines = [line for one in notifier.accepted for line in one.body.splitlines()]
    return [line.partition(NORTH.origin)[2] for line in lines if "/guided/open" in line]


class HostedShop(Shop):
    """A shop with one site, and the app that its web server asks."""

    def __init__(self, clock: ManualClock | None = None, over: Store | None = None, site: Site = NORTH) -> None:
        super().__init__(clock, over, terms=None, sites=(site,))
        routes = self.routes()
        self.app = public_app(routes.public, routes.direct, found(), Metrics())


@dataclass
class Visitor:
    """A browser: its cookies, and how it visits a shop's site."""

    shop: HostedShop
    peer: str = "203.0.113.9"
    cookies: httpx2.Cookies = field(default_factory=httpx2.Cookies)

    async def get(self, path: str, headers: Mapping[str, str] = LOOKED_AT) -> httpx2.Response:
        """Open an address without following where it leads."""
        return await self._ask("GET", path, headers)

    async def head(self, path: str) -> httpx2.Response:
        """Ask for the headers of an address."""
        return await self._ask("HEAD", path, {})

    async def post(self, path: str, headers: Mapping[str, str] = OF_PAGE, **fields: str) -> httpx2.Response:
        """Send a form."""
        return await self._ask("POST", path, headers, {"form_token": "", **fields})

    async def gate(self, product: str = PRODUCT.name) -> int:
        """Return what the access gate answers for this browser, a second later."""
        self.shop.clock.advance(1)
        return (await self.get(f"{GATE}{product}")).status_code

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str], fields: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        async with client_of(self.shop.app, peer=self.peer) as client:
            client.cookies = self.cookies
            answer = await client.request(method, path, headers=dict(headers), data=fields)
            self.cookies = client.cookies
            return answer


def said_of(page: str, name: str) -> bool:
    """Return whether a page has the title of that name."""
    title = WORDS["en"]["pages"][name]["title"].partition("{")[0]
    return f"<h1>{title}" in page
