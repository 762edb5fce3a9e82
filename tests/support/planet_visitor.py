"""A visitor of the demo planet, over a tiny remote that stands for Orrery's public operations."""

from urllib.parse import urlencode

import anyio
import httpx2

from orrery.sandbox.site import SiteConfig, SiteProduct, create_site
from tests.support.site_operations import TOKEN, OperationsStub
from tests.support.waiting import PATIENCE

NAVIGATOR = SiteProduct(
    "northwind", "cloud-navigator", "Cloud Navigator", "US$39", "Instant access. No auto-renewal."
)
PRACTICE = "/practice/northwind/cloud-navigator"
BUYER = "cs_test_buyer"


class Visitor:
    """A browser without JavaScript, with one cookie jar."""

    def __init__(
        self,
        operations: OperationsStub,
        *products: SiteProduct,
        access_deadline: float = PATIENCE,
        token: str = TOKEN,
    ) -> None:
        config = SiteConfig(
            "http://127.0.0.1:1", token, products or (NAVIGATOR,), "https://pay.test", access_deadline
        )
        self._site = create_site(config, httpx2.ASGITransport(operations.app()))
        self.cookies = httpx2.Cookies()

    def get(self, path: str) -> httpx2.Response:
        """Open a page."""
        return anyio.run(self._request, "GET", path, b"")

    def post(self, path: str, form: dict[str, str]) -> httpx2.Response:
        """Post a form."""
        return anyio.run(self._request, "POST", path, urlencode(form).encode())

    async def _request(self, method: str, path: str, body: bytes) -> httpx2.Response:
        transport = httpx2.ASGITransport(self._site)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://planet.test", cookies=self.cookies
        ) as client:
            with anyio.fail_after(PATIENCE):
                answer = await client.request(method, path, content=body)
            self.cookies = client.cookies
            return answer
