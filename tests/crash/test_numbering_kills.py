"""Two nodes over one PostgreSQL number sales; the one that does is killed (`kill -9`), and the other goes on."""

import asyncio
from collections.abc import Container
from contextlib import ExitStack

from orrery.adapters.postgres import PostgresStore, create
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.lease import Holder
from tests.checkout.access.test_numbering import YEAR, numbers, receipts, sell, shop_over
from tests.crash.numbering_worker import JOB
from tests.crash.workers import Worker, working
from tests.support.checkout import Shop
from tests.support.clock import ManualClock
from tests.support.postgres import running_postgres, skip_without_postgres
from tests.support.soak import SOAKING
from tests.support.waiting import PATIENCE

SALES, KILLS = (160, 3) if SOAKING else (60, 1)


async def reached(shop: Shop, count: int, living: Container[str]) -> str:
    """Wait until so many sales are numbered and a living node has the lease; return that node."""
    lease = Collection(shop.store, shop.clock, Holder, f"lease:{JOB}", derived=True, life=FOR_EVER)
    async with asyncio.timeout(PATIENCE):
        while True:
            last = await shop.stored.last_numbers.get(f"NW-{YEAR}")
            holder = (await lease.require()).record.holder if last else ""
            if last and last.record.last >= count and holder in living:
                return holder
            await asyncio.sleep(0)


async def numbered_by_nodes_that_die(address: str) -> None:
    """Sell, and kill the node that numbers after each part of the sales."""
    clock, sold = ManualClock(), [f"cs_{number}" for number in range(SALES)]
    store = await PostgresStore.open(address, clock)
    shop = shop_over(store, clock)
    await sell(shop, *sold)
    with ExitStack() as running:
        nodes = dict[str, Worker]()

        def start(name: str) -> None:
            nodes[name] = running.enter_context(working("crash.numbering_worker", address, name))
            nodes[name].await_ready()

        start("a")
        start("b")
        for kill in range(KILLS):
            holder = await reached(shop, (kill + 1) * SALES // (KILLS + 2), nodes)
            nodes.pop(holder).kill()
            start(f"after-{holder}")
        _ = await reached(shop, SALES, nodes)
    assert sorted(filter(None, await numbers(shop, *sold))) == [f"NW-{YEAR}-{n:04d}" for n in range(1, SALES + 1)]
    given = dict(zip((f"buyer-{one}" for one in sold), await numbers(shop, *sold), strict=True))
    assert await receipts(shop) == given
    await store.close()


def test_no_number_twice_and_none_left_out() -> None:
    """Every sale has its own number and one receipt that names it, whenever a node is killed."""
    skip_without_postgres()
    with running_postgres() as server:
        address = server.address(server.new_schema())
        create(address)
        asyncio.run(numbered_by_nodes_that_die(address))
