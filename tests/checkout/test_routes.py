"""The checkout's public operations over HTTP (spec 1, Endpoints; decisions 3, 11, 14, 47)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp

from orrery.adapters.memory import MemoryStore
from orrery.checkout.catalogue import Product
from orrery.checkout.routes import PREFIX, WEBHOOK_BODY
from orrery.checkout.selling.health import NOTED_EVERY, ProxyHealth
from orrery.edge.direct import AnsweredDirectly
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.errors import StoreUnavailable
from orrery.ports.health import Finding
from tests.support.checkout import (
    BUYER,
    OTHER,
    PRODUCT,
    READS,
    STARTS,
    TOKEN,
    Shop,
    event_body,
    session_json,
    signed,
)
from tests.support.clock import ManualClock
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

SAME_CODE = Product("northwind", "cissp", "CISSP basics", "price_cheap")
CHECK = f"{PREFIX}/access/check"
BUY = {"productType": "cert", "certCode": "cissp", "vendorSlug": "isc2"}


@dataclass(frozen=True)
class Service:
    """The public app over a small shop."""

    shop: Shop = field(default_factory=Shop)

    @cached_property
    def app(self) -> ASGIApp:
        """The app, with limits that are soon reached."""
        routes, metrics = self.shop.routes(), Metrics()
        webhook, _ = routes.direct
        return AnsweredDirectly(public_app(routes.public, routes.direct, found(), metrics), webhook, metrics)

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401  any JSON
        peer: str = "203.0.113.7",
        **headers: str,
    ) -> httpx2.Response:
        """Send one request."""
        async with client_of(self.app, peer=peer) as client:
            return await client.request(method, path, json=body, headers=headers)

    async def read(self, session_id: str = "cs_1", **more: str) -> httpx2.Response:
        """Ask what became of a session, as the success page does."""
        return await self.ask("GET", f"{PREFIX}/access/{session_id}", **more)

    async def check(self, **asked: str) -> httpx2.Response:
        """Ask as the practice site does."""
        return await self.ask("POST", CHECK, asked, Authorization=f"Bearer {TOKEN}")

    async def start(self) -> httpx2.Response:
        """Press the shop's button."""
        return await self.ask("POST", f"{PREFIX}/checkout", BUY)


@pytest.fixture
def service() -> Service:
    """Return a new one."""
    return Service()


async def test_a_check_names_the_product_by_the_pair() -> None:
    """The practice site names certification and vendor; the purchase opens that product and no other."""
    service = Service(Shop(products=(PRODUCT, SAME_CODE, OTHER)))
    await service.shop.desk.grant(BUYER, SAME_CODE.key, "a test")
    for product, granted in ((SAME_CODE, True), (PRODUCT, False)):
        answer = await service.check(email=BUYER, certCode="cissp", vendorSlug=product.vendor_slug)
        assert (answer.status_code, answer.json()["granted"]) == (200, granted)


async def test_a_check_of_a_shared_code_without_its_vendor() -> None:
    """It answers 422 and names the field, by address and by session; a code of one vendor needs none."""
    service = Service(Shop(products=(PRODUCT, SAME_CODE, OTHER)))
    for who in ({"email": BUYER}, {"sessionId": "cs_1"}):
        answer = await service.check(certCode="cissp", **who)
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid-field")
        assert answer.json()["message"].startswith("vendorSlug: ")
        assert (await service.check(certCode="ccsp", **who)).status_code == 200


async def test_reading_what_became_of_a_session_is_limited(service: Service) -> None:
    """An address that asks too often is told for how long to wait; another one, and time, are not held up."""
    assert [(await service.read()).status_code for _ in range(READS)] == [404] * READS
    refused = await service.read()
    assert (refused.status_code, refused.json()["error"]) == (429, "too-many-requests")
    assert (await service.read(peer="203.0.113.8")).status_code == 404
    service.shop.clock.advance(float(refused.headers["Retry-After"]))
    assert (await service.read()).status_code == 404


async def test_reading_and_buying_have_budgets_of_their_own(service: Service) -> None:
    """Asking what became of a session takes nothing from buying, and buying nothing from asking."""
    assert [(await service.start()).status_code for _ in range(STARTS + 1)] == [200] * STARTS + [429]
    assert [(await service.read("cs_unknown")).status_code for _ in range(READS + 1)] == [404] * READS + [429]
    service.shop.clock.advance(60)
    assert (await service.start()).status_code == 200


@each_case("signature", [None, "", "t=1", "v1=00", f"t=1,v0={'0' * 64}", f"v1={'0' * 64}"])
async def test_a_webhook_without_a_signature_is_refused_unread(signature: str | None) -> None:
    """What its header alone refuses is answered before a byte of its body was asked for, and counted."""
    service, read = Service(), list[bytes]()

    async def body() -> AsyncIterator[bytes]:
        read.append(b"x")
        yield b"x"

    headers = {} if signature is None else {"Stripe-Signature": signature}
    async with client_of(service.app) as client:
        answer = await client.post(f"{PREFIX}/webhook", content=body(), headers=headers)
    assert (answer.status_code, answer.json()["error"], read) == (400, "invalid-request", [])
    assert service.shop.webhook.refusals.counts == {"no signature": 1}


async def test_two_signatures_are_none(service: Service) -> None:
    """A webhook that carries its header twice is refused, though one of them is right."""
    body = event_body("evt_1", session_json(metadata={}))
    right = signed(body, service.shop.clock.now())
    async with client_of(service.app) as client:
        headers = [("Stripe-Signature", right), ("Stripe-Signature", right)]
        answer = await client.post(f"{PREFIX}/webhook", content=body, headers=headers)
    assert answer.status_code == 400
    assert service.shop.webhook.refusals.counts == {"no signature": 1}


@pytest.mark.parametrize("late", [0, 301, -301])
async def test_a_webhook_whose_header_may_be_right_is_read(late: int, service: Service) -> None:
    """A header that a body could be signed by is not judged alone, whatever time it says."""
    body = event_body("evt_1", session_json(metadata={}))
    signed_at = service.shop.clock.now() - timedelta(seconds=late)
    await service.shop.webhook.require_signature(signed(body, signed_at))
    await service.shop.webhook.require_signature(f"v0=1, v1={'0' * 64} ,t=1")


async def test_no_answer_is_stored_on_the_way(service: Service) -> None:
    """Whatever the operation and the status, no cache may keep the answer: it is about one buyer, now."""
    await service.shop.offered("cs_1")
    webhook = event_body("evt_1", session_json())
    signature = signed(webhook, service.shop.clock.now())
    async with client_of(service.app) as client:
        granted = await client.post(f"{PREFIX}/webhook", content=webhook, headers={"Stripe-Signature": signature})
    answers = [
        granted,
        await service.start(),
        await service.read(),
        await service.check(email=BUYER, certCode="cissp"),
        await service.read("cs_unknown"),
        await service.check(email=BUYER),
        await service.ask("POST", CHECK, {}),
        await service.ask("DELETE", CHECK),
        *[await service.read() for _ in range(READS)],
    ]
    assert {answer.status_code for answer in answers} == {200, 401, 404, 405, 422, 429}
    assert {answer.headers["Cache-Control"] for answer in answers} == {"no-store"}


async def test_any_signed_body_is_answered_200(service: Service) -> None:
    """What is signed is kept, whatever it is: another status would let the processor send it for three days."""
    async with client_of(service.app) as client:
        signature = signed(b"[]", service.shop.clock.now())
        kept = await client.post(f"{PREFIX}/webhook", content=b"[]", headers={"Stripe-Signature": signature})
    assert (kept.status_code, kept.json()) == (200, {"received": "unreadable"})
    assert len(await service.shop.entries("event:")) == 1


async def test_a_body_beyond_the_limit_is_counted_and_told() -> None:
    """A body of more than 1 MiB is a 413, counted, and told when its header is like the processor's."""
    service, body = Service(), b"x" * (WEBHOOK_BODY + 1)
    signature = signed(b"", service.shop.clock.now(), b"another secret")
    async with client_of(service.app) as client:
        refused = await client.post(f"{PREFIX}/webhook", content=body, headers={"Stripe-Signature": signature})
    assert refused.status_code == 413
    assert service.shop.webhook.refusals.counts == {"too large": 1}
    assert [row.title for row in await service.shop.told()] == ["A webhook is too large to be read"]


async def elsewhere(service: Service) -> Finding:
    """Return what `orrery doctor`, another process over the same store, finds."""
    (found,) = await ProxyHealth(service.shop.stored, ()).local()
    return found


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "checkout"), ("GET", "access/cs_unknown"), ("POST", "webhook")]
)
async def test_the_first_request_shows_the_proxy(method: str, path: str, header: str, service: Service) -> None:
    """Whatever comes first through a proxy that is not trusted, `doctor` names the proxy afterwards."""
    assert (await elsewhere(service)).state == "ok"
    await service.ask(method, f"{PREFIX}/{path}", BUY, peer="10.0.0.5", **{header: "203.0.113.9"})
    assert "The proxy 10.0.0.5 is not trusted" in (await elsewhere(service)).why


async def test_a_refused_request_writes_nothing(service: Service) -> None:
    """Where the first request through the proxy is one that the limit refuses, the job stores what it shows."""
    for _ in range(STARTS):
        await service.ask("POST", f"{PREFIX}/checkout", BUY, peer="10.0.0.5")
    before = await service.shop.entries()
    header = {"X-Forwarded-For": "203.0.113.9"}
    refused = await service.ask("POST", f"{PREFIX}/checkout", BUY, peer="10.0.0.5", **header)
    assert (refused.status_code, await service.shop.entries()) == (429, before)
    await service.shop.proxies.write()
    assert (await elsewhere(service)).state == "broken"


async def test_a_store_that_fails_leaves_the_answer_to_the_operation() -> None:
    """That the proxy cannot be noted is no reason to refuse its buyer; the job notes it later."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    service = Service(Shop(clock, store))
    store.commit_errors = [StoreUnavailable("full")]
    header = {"X-Forwarded-For": "203.0.113.9"}
    assert (await service.read("cs_unknown", peer="10.0.0.5", **header)).status_code == 404
    await service.shop.proxies.write()
    assert (await elsewhere(service)).state == "broken"


async def test_a_proxy_that_hides_the_buyers() -> None:
    """Both limited operations see a proxy that is not trusted, and how many its one limit has refused."""
    for path, body, most in ((f"{PREFIX}/checkout", BUY, STARTS), (f"{PREFIX}/access/cs_1", None, READS)):
        service = Service()
        for number in range(most + 2):
            header = {"X-Forwarded-For": f"203.0.113.{number}"}
            await service.ask("POST" if body else "GET", path, body, peer="10.0.0.5", **header)
        service.shop.clock.advance(NOTED_EVERY.total_seconds())
        await service.shop.proxies.write()
        assert (await elsewhere(service)).why == (
            "The proxy 10.0.0.5 is not trusted: all buyers behind it share one rate limit. "
            "The limit refused 2 requests."
        )


async def test_no_visitor_makes_a_proxy_of_himself(service: Service) -> None:
    """Who comes from the internet, sends such a header and is refused many times, is noted as nothing."""
    for _ in range(STARTS + 20):
        await service.ask("POST", f"{PREFIX}/checkout", BUY, **{"X-Forwarded-For": "10.0.0.5"})
    await service.shop.proxies.write()
    (found,) = await service.shop.proxies.local()
    assert found.state == "ok"


async def test_an_ipv6_network_shares_a_wider_limit(service: Service) -> None:
    """Whoever changes the /64 with every request is refused in the end; the /56 beside it is not."""
    answers: list[httpx2.Response] = []
    for number in range(4 * STARTS + 1):
        peer = f"2001:db8:0:1{number:02x}::1"
        answers.append(await service.ask("POST", f"{PREFIX}/checkout", BUY, peer=peer))
    assert [answer.status_code for answer in answers] == [200] * 4 * STARTS + [429]
    assert answers[-1].headers["Retry-After"] == "60"
    assert (await service.ask("POST", f"{PREFIX}/checkout", BUY, peer="2001:db8:0:200::1")).status_code == 200
