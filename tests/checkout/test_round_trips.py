"""How often a sale waits for the store: each time is a round trip, where the store is a database elsewhere."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.selling.service import Purchase
from orrery.ports.store import StoreEntry
from tests.support.checkout import PRODUCT, Shop, session_json
from tests.support.clock import ManualClock
from tests.support.rehearsal import Rehearsal
from tests.support.unreliable_store import UnreliableStore


class RoundTrips(UnreliableStore):
    """Counts the reads that begin while no other is under way: those that wait at the same time share one."""

    trips = under_way = 0

    async def get(self, key: str) -> StoreEntry | None:
        """Count it, and pass on."""
        with self._counted():
            return await super().get(key)

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Count it, and pass on."""
        with self._counted():
            return await super().scan(prefix, after=after, limit=limit, reverse=reverse)

    @contextmanager
    def _counted(self) -> Generator[None]:
        self.trips += not self.under_way
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1


async def start(shop: Shop) -> None:
    """Click on the button of a product."""
    await shop.checkout.create(Purchase(PRODUCT.key, "203.0.113.7", "of a click"))


async def pay(shop: Shop) -> None:
    """Have the processor report a payment."""
    await shop.receive("evt_1", session_json())


async def buy_again(shop: Shop) -> None:
    """Pay once more, as the same buyer."""
    await shop.receive("evt_2", session_json("cs_2"))


async def look(shop: Shop) -> None:
    """Open the success page of a session that nobody has paid."""
    await shop.session_states.of("cs_3")


@pytest.mark.parametrize(
    ("steps", "trips"),
    [
        ([start], 1),
        ([start, start], 2),
        ([pay], 1),
        ([pay, pay], 3),
        ([pay, buy_again], 3),
        ([look], 1),
    ],
)
async def test_a_step_of_a_sale_reads_three_times_at_most(
    steps: list[Callable[[Shop], Awaitable[None]]], trips: int
) -> None:
    """A commit has what it is checked against with it; what is left is read together."""
    clock = ManualClock()
    store = RoundTrips(MemoryStore(clock))
    shop = Shop(clock, store)
    await shop.offered("cs_1", "cs_2", "cs_3")
    await shop.webhook.refusals.accepted()  # the first one of a process looks for an outage
    for step in steps:
        store.trips = 0
        await step(shop)
    assert store.trips == trips


async def test_a_repeated_click_in_live_mode() -> None:
    """There, what the processor accepted is read besides."""
    clock = ManualClock()
    store = RoundTrips(MemoryStore(clock))
    shop = Rehearsal(clock=clock, kept=store)
    await shop.preflighted()
    await start(shop)
    store.trips = 0
    await start(shop)
    assert store.trips == 3
