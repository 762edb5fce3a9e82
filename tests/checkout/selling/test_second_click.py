"""A second click that lands on another node while the first is under way at the processor (decision record 94)."""

import asyncio
from dataclasses import replace

import pytest
from anyio.lowlevel import checkpoint

from orrery.checkout.selling.service import DEADLINE, FIRST_ONES, CreatedSession, Purchase
from orrery.ports.processor.errors import ProcessorUnreachable
from tests.support.checkout import OTHER, PRODUCT, Shop

CLICK = Purchase(PRODUCT.key, "203.0.113.7", "click-1")
SERVER = ProcessorUnreachable("The processor answered 500.", same_key=False, status=500)


class TwoNodes:
    """Two nodes over one store, at one account that makes no session before it is `let`."""

    def __init__(self) -> None:
        self.here = Shop()
        self.clock, self.account = self.here.clock, self.here.processor
        self.there = Shop(self.clock, self.here.store, account=self.account)
        self.account.making = self._let = asyncio.Event()

    async def clicked(self, *nodes: Shop) -> list[asyncio.Task[CreatedSession]]:
        """Click once at each node, one after the other; each is under way, or has been refused, then."""
        tasks: list[asyncio.Task[CreatedSession]] = []
        for node in nodes:
            tasks.append(asyncio.create_task(node.checkout.create(CLICK)))
            await self.settled()
        return tasks

    async def settled(self) -> None:
        """Let everything run that waits for no time."""
        for _ in range(50):
            await checkpoint()

    async def move_on(self, seconds: float) -> None:
        """Let time pass, as the clicks see it."""
        for _ in range(round(seconds * 10)):
            self.clock.advance(0.1)
            await self.settled()

    def let(self) -> None:
        """Let the account make what is under way."""
        self.account.making = None
        self._let.set()


@pytest.fixture
def nodes() -> TwoNodes:
    """Return two nodes."""
    return TwoNodes()


async def test_it_waits_for_the_first_ones_session(nodes: TwoNodes) -> None:
    """It is asked for once more in vain, and answered with the session that the first node then has."""
    tasks = await nodes.clicked(nodes.here, nodes.there, nodes.there)
    await nodes.move_on(FIRST_ONES - 0.5)
    assert not any(task.done() for task in tasks)
    nodes.let()
    await nodes.move_on(0.5)
    assert [(await task).id for task in tasks] == ["cs_1"] * 3
    assert (nodes.account.open(), len(nodes.account.calls)) == (["cs_1"], 2)


async def test_a_frozen_node_holds_up_no_click(nodes: TwoNodes) -> None:
    """After that time the second goes on under the key of the first: the processor has one session for both."""
    [frozen, second] = await nodes.clicked(nodes.here, nodes.there)
    nodes.account.making = None
    nodes.account.in_use.clear()  # the processor has made it, and the frozen node does not read the answer
    await nodes.move_on(FIRST_ONES + 0.5)
    assert (await second).id == "cs_1"
    nodes.let()
    await nodes.settled()
    assert await frozen == await second
    assert nodes.account.open() == ["cs_1"]
    assert len({call.idempotency_key for call in nodes.account.calls}) == 1


async def test_a_processor_that_goes_on_for_longer(nodes: TwoNodes) -> None:
    """The second is answered in its ten seconds with the processor's trouble, and makes no second session."""
    [first, second] = await nodes.clicked(nodes.here, nodes.there)
    await nodes.move_on(DEADLINE)
    with pytest.raises(ProcessorUnreachable):
        await second
    nodes.let()
    assert (await first).id == "cs_1"
    assert nodes.account.open() == ["cs_1"]


async def test_two_nodes_meet_one_5xx(nodes: TwoNodes) -> None:
    """The processor repeats a 5xx under its key to both: they go on under one new key, and not under two."""
    nodes.let()
    nodes.account.before["create"] += [SERVER, SERVER]
    tasks = [asyncio.create_task(node.checkout.create(CLICK)) for node in (nodes.here, nodes.there)]
    await nodes.move_on(1)
    assert [(await task).id for task in tasks] == ["cs_1"] * 2
    assert nodes.account.open() == ["cs_1"]


async def test_another_product_is_refused_at_once(nodes: TwoNodes) -> None:
    """The key of a click that is under way on another node is used for its product only."""
    [first] = await nodes.clicked(nodes.here)
    with pytest.raises(Exception, match="used for another product"):
        await nodes.there.checkout.create(replace(CLICK, product=OTHER.key))
    nodes.let()
    assert (await first).id == "cs_1"
