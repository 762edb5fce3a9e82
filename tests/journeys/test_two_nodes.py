"""A site in front of two nodes over one PostgreSQL database: what one node does, the other knows in a second."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres import PostgresStore, create
from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.site.gate import EVERY
from orrery.runtime.index_key import index_key
from tests.support.checkout import BUYER, PRODUCT, record
from tests.support.clock import START, ManualClock
from tests.support.deployment import Deployment, Product, beside_a_sandbox, running
from tests.support.hosted import BACK, OF_PAGE, HostedShop, Visitor, links, said_of, sold
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.sandbox import SESSIONS
from tests.support.visiting import CHECKOUT
from tests.support.visiting import Visitor as Buyer
from tests.support.waiting import IN_CLEAR, PATIENCE, eventually

SITE = '[[sites]]\norigin = "http://127.0.0.1"\nname = "North"\n'
RACES = 5
CLICKS, MORE = 50, 20
OLD = 120
"""More imports of an earlier release than one commit takes."""


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    """Yield a server."""
    skip_without_postgres()
    with running_postgres() as server:
        yield server


@asynccontextmanager
async def two_nodes(server: Server) -> AsyncGenerator[tuple[HostedShop, HostedShop]]:
    """Yield two nodes with one clock, each with connections of its own to one new store."""
    clock, address = ManualClock(), server.address(server.new_schema())
    await asyncio.to_thread(create, address)
    stores = [await PostgresStore.open(address, clock) for _ in range(2)]
    try:
        first, second = (HostedShop(clock, store) for store in stores)
        yield first, second
    finally:
        for store in stores:
            await store.close()


async def gate(node: HostedShop, visitor: Visitor) -> int:
    """Return what the access gate of a node answers now."""
    cookies = httpx2.Cookies(visitor.cookies)
    return (await Visitor(node, cookies=cookies).get(f"/guided/api/gate/{PRODUCT.name}")).status_code


async def test_what_one_node_opens_and_takes_back(server: Server) -> None:
    """A browser that both nodes refused is let in by both a second after one opened it, and out again likewise."""
    async with two_nodes(server) as (here, there):
        visitor = Visitor(here)
        await sold(here)
        await sold(here, "cs_2")
        assert (await visitor.get(f"{BACK[:-1]}2")).status_code == 303  # it has a cookie, and access to revoke
        for session in ("cs_2", "cs_1"):
            assert [await gate(node, visitor) for node in (here, there)] == [204, 204]
            _ = await here.desk.revoke(session, "asked by the buyer")
            here.clock.advance(EVERY)
            assert [await gate(node, visitor) for node in (here, there)] == [403, 403]
            if session == "cs_2":
                assert (await visitor.get(BACK)).status_code == 303
                here.clock.advance(EVERY)


async def test_the_first_browser_of_two_nodes(server: Server) -> None:
    """Two browsers come back from one payment at once, each to another node: one of them is let in."""
    async with two_nodes(server) as nodes:
        for number in range(RACES):
            await sold(nodes[0], f"cs_{number}")
            visitors = [Visitor(node) for node in nodes]
            back = f"/guided/success?session_id=cs_{number}"
            led = await asyncio.gather(*(one.get(back) for one in visitors))
            assert sorted(one.status_code for one in led) == [200, 303]
            for node in nodes:
                assert sorted([await gate(node, one) for one in visitors]) == [204, 401]
            nodes[0].clock.advance(EVERY)


async def test_a_lost_link_is_sent_once_by_two_nodes(server: Server) -> None:
    """However many nodes are asked at once, an address gets one e-mail an hour."""
    async with two_nodes(server) as nodes:
        await sold(nodes[0])
        assert len(await links(nodes[0])) == 1  # the receipt's
        for _ in range(2):
            asked = [Visitor(node).post("/guided/lost", email=BUYER) for node in nodes for _ in range(2)]
            assert all(said_of(one.text, "sent") for one in await asyncio.gather(*asked))
            for node in nodes:
                await node.tasks.finish()
            assert len(await links(nodes[1])) == 1
            nodes[0].clock.advance(3600)


async def test_one_export_brought_to_two_nodes(server: Server) -> None:
    """Two imports of one file at the same time bring each sale once."""
    lines = [
        ImportedAccess(f"b{number}@example.org", PRODUCT.key, START.replace(year=2027), (f"stripe:{number}",))
        for number in range(50)
    ]
    async with two_nodes(server) as nodes:
        brought = await asyncio.gather(*(node.imported(*lines) for node in nodes))
        assert sum(brought) == len(lines)
        assert len(await nodes[0].entries("access:")) == len(lines)


def new_database(server: Server, name: str) -> str:
    """Make a database, and return its address as the settings have it."""
    with server.connected() as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"postgresql://orrery@127.0.0.1:{server.port}/{name}"


def shop_of_nodes(address: str, folder: Path, more_checkout: str = "") -> Deployment:
    """Return a shop with a new store at this address."""
    hosted, store = Product("hosted", site="North"), f'address = "{address}"'
    shop = Deployment(folder, [hosted], more_store=store, more=SITE, more_checkout=more_checkout)
    shop.store.unlink()
    assert shop.orrery("store", "create").returncode == 0
    return shop


@dataclass(frozen=True)
class Button:
    """A product's button, and the visitor who presses it."""

    buyer: Buyer
    key: str | None = None

    def press(self, node: str) -> httpx2.Response:
        """Press it at a node."""
        headers = {"X-Forwarded-For": self.buyer.address} | ({"Idempotency-Key": self.key} if self.key else {})
        with httpx2.Client(verify=IN_CLEAR, timeout=PATIENCE, trust_env=False) as client:
            return client.post(f"{node}{CHECKOUT}", json=self.buyer.wanted(), headers=headers)


def test_clicks_at_two_services(server: Server, tmp_path: Path) -> None:
    """Fifty clicks under one key, spread over both while the processor is slow, are one session.

    And as many sessions are made in a minute as one service makes.
    """
    most = f"sessions_per_minute = {CLICKS + MORE}\nsessions_per_hour = {CLICKS + MORE}"
    shop = shop_of_nodes(new_database(server, "fifty"), tmp_path, most)
    with running(shop), ThreadPoolExecutor(CLICKS) as pool:
        program, other = shop.launch_another_service()
        shop.await_answer(program, other)
        shop.sandbox.fault("latency", value=1.5, path=SESSIONS)
        buyer, nodes = Buyer(shop, product="hosted"), [shop.public, other] * (CLICKS // 2)
        answers = [*pool.map(Button(buyer, "of-one-click").press, nodes)]
        assert [one.status_code for one in answers] == [200] * CLICKS
        made = {str(one.json()["id"]) for one in answers}
        assert [one["id"] for one in shop.sandbox.sessions("hosted")] == [*made]
        more = [one.status_code for one in pool.map(Button(buyer).press, nodes)]
        assert (more.count(200), more.count(429)) == (MORE, CLICKS - MORE)
        assert len(shop.sandbox.sessions("hosted")) == 1 + MORE


def test_a_frozen_service_holds_up_no_click(server: Server, tmp_path: Path) -> None:
    """A click goes on at the other service under the key of the first, which has frozen meanwhile: one session."""
    shop = shop_of_nodes(new_database(server, "frozen"), tmp_path)
    with running(shop), ThreadPoolExecutor(2) as pool:
        program, other = shop.launch_another_service()
        shop.await_answer(program, other)
        shop.sandbox.fault("latency", value=1.5, path=SESSIONS)
        button = Button(Buyer(shop, product="hosted"), "of-one-click")
        first = pool.submit(button.press, other)
        eventually(lambda: none_of(shop.sandbox.faults()))  # the processor has begun with it
        program.process.send_signal(signal.SIGSTOP)
        second = button.press(shop.public)
        program.process.send_signal(signal.SIGCONT)
        assert (second.status_code, second.json()) == (200, first.result().json())
        assert len(shop.sandbox.sessions("hosted")) == 1


async def test_three_services_that_start_at_once(server: Server, tmp_path: Path) -> None:
    """Each brings the imports of an earlier release up to this one: none is done twice, none is lost."""
    address = new_database(server, "three")
    shop = shop_of_nodes(address, tmp_path)
    store = await PostgresStore.open(address, SystemClock())
    stored = CheckoutRecords(store, SystemClock(), await index_key(store))
    for number in range(OLD):
        former = record(f"import_{number:024x}", email=f"b{number}@example.org", granted_by="import")
        _ = await store.commit(stored.access.changes(former.session_id, None, former).writes)
    with beside_a_sandbox(shop):
        services = [shop.launch_another_service() for _ in range(3)]
        for service in services:
            await asyncio.to_thread(shop.await_answer, *service)
        found = await stored.access.all()
        assert {one.record.email for one in found.records} == {f"b{number}@example.org" for number in range(OLD)}
        assert len(found.records) == OLD
        assert all(one.id.startswith("imported_") for one in found.records)
        for one in found.records:
            [index] = [entry async for entry in stored.access.entries(stored.of_buyer(one.record.email or "")[0])]
            assert index.value.decode() == one.id
    await store.close()


def none_of(found: Sequence[object]) -> None:
    """Fail, for now, unless there is none."""
    assert not found


def test_two_services(server: Server, tmp_path: Path) -> None:
    """Real processes: sold at one, opened at both at once, let in by both; revoked by a command, out at both."""
    shop = shop_of_nodes(new_database(server, "two"), tmp_path)
    with running(shop):
        program, other = shop.launch_another_service()
        shop.await_answer(program, other)
        buyer = Buyer(shop, product="hosted")
        session = buyer.buy()
        buyer.await_access(session)
        nodes = (shop.public, other)
        with ThreadPoolExecutor() as pool:
            led = [*pool.map(pressed, (f"{node}/guided/success?session_id={session}" for node in nodes))]
        assert sorted(one.status_code for one in led) == [200, 303]
        [given] = [cookie for one in led if (cookie := one.headers.get("set-cookie"))]

        def expect(status: int) -> None:
            gates = (f"{node}/guided/api/gate/northwind/hosted" for node in nodes)
            assert [asked(one, given.partition(";")[0]).status_code for one in gates] == [status, status]

        eventually(lambda: expect(204))
        assert shop.orrery("access", "revoke", session, "--reason", "asked").returncode == 0
        eventually(lambda: expect(403))


def asked(address: str, cookie: str = "") -> httpx2.Response:
    """Open an address as a browser with this cookie does."""
    return httpx2.get(address, headers={"Cookie": cookie}, verify=IN_CLEAR, timeout=PATIENCE, trust_env=False)


def pressed(address: str) -> httpx2.Response:
    """Press the button of a page, which its buyer came back to."""
    fields = {"form_token": ""}
    return httpx2.post(address, data=fields, headers=OF_PAGE, verify=IN_CLEAR, timeout=PATIENCE, trust_env=False)
