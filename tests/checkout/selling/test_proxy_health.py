"""Buyers behind a proxy that is not trusted share one limit: it is noticed, and ends when it is trusted."""

from dataclasses import dataclass, field
from functools import cached_property

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.selling.health import MANY_REFUSED, ProxyHealth
from orrery.errors import StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.store import Put
from tests.support.clock import ManualClock
from tests.support.logged import logged
from tests.support.unreliable_store import UnreliableStore

EDGE = "10.0.0.5"
HOUR = 3600


@dataclass
class House:
    """One process, and what others see of it in the store."""

    clock: ManualClock = field(default_factory=ManualClock)

    @cached_property
    def store(self) -> UnreliableStore:
        """The store that all processes share."""
        return UnreliableStore(MemoryStore(self.clock))

    @cached_property
    def health(self) -> ProxyHealth:
        """The process."""
        return self.another()

    def another(self, *trusted: str) -> ProxyHealth:
        """Return another process, with these trusted proxies."""
        return ProxyHealth(CheckoutRecords(self.store, self.clock, b""), trusted)

    async def finding(self, *trusted: str) -> Finding:
        """Return what another process finds."""
        (found,) = await self.another(*trusted).local()
        return found


@pytest.fixture
def house() -> House:
    """Return a new one."""
    return House()


async def test_an_untrusted_proxy_is_found(house: House) -> None:
    """The finding names the proxy and the setting; it is not essential, and another process has it too."""
    assert (await house.finding()).state == "ok"
    house.health.forwards(EDGE)
    await house.health.write()
    found = await house.finding()
    assert (found.part, found.state, found.essential, found.settled) == ("client addresses", "broken", False, True)
    assert found.of_machine
    assert (await house.finding(EDGE)).of_machine  # each machine has its own trusted proxies
    assert found.why == "The proxy 10.0.0.5 is not trusted: all buyers behind it share one rate limit."
    assert "Add 10.0.0.5 to [server] trusted_proxies" in found.todo


async def test_buyers_who_were_refused_are_counted(house: House) -> None:
    """How many the shared limit has refused is said."""
    for _ in range(3):
        house.health.forwards(EDGE)
        house.health.refused(EDGE)
    await house.health.write()
    assert (await house.finding()).why.endswith("The limit refused 3 requests.")
    house.clock.advance(HOUR)
    house.health.forwards(EDGE)
    house.health.refused(EDGE)
    await house.health.write()
    assert (await house.finding()).why.endswith("The limit refused 4 requests.")


async def test_it_ends_when_the_proxy_is_trusted(house: House) -> None:
    """A process that trusts the proxy finds nothing wrong, though the last sight is a minute old."""
    house.health.forwards(EDGE)
    await house.health.write()
    assert (await house.finding("10.0.0.0/8")).state == "ok"
    assert (await house.finding("192.0.2.0/24", "fd00::/8")).state == "broken"


async def test_a_proxy_that_is_trusted_and_sends_no_addresses(house: House) -> None:
    """Trusting a proxy is not enough when it names nobody: the refusals after that are told, and they alone."""
    house.health.forwards(EDGE)
    for _ in range(3):
        house.health.refused(EDGE)
    await house.health.write()
    trusting = house.another(EDGE)
    for _ in range(MANY_REFUSED):
        trusting.refused(EDGE)
    await trusting.write()
    found = await house.finding(EDGE)
    assert found.why == "The rate limit refused 10 requests from 10.0.0.5, an address of a private network."
    assert "let it send X-Forwarded-For" in found.todo


async def test_it_ends_a_day_after_the_proxy_is_gone(house: House) -> None:
    """A proxy that is seen no more counts for 24 hours; one that is seen counts on."""
    for _ in range(3):
        house.health.forwards(EDGE)
        await house.health.write()
        house.clock.advance(23 * HOUR)
        assert (await house.finding()).state == "broken"
    house.clock.advance(HOUR)
    assert (await house.finding()).state == "ok"


async def test_many_refusals_of_a_private_address(house: House) -> None:
    """A proxy that sends no header is known by the many whom the limit refuses; a few may be one person."""
    for _ in range(MANY_REFUSED - 1):
        house.health.refused("127.0.0.1")
    await house.health.write()
    assert (await house.finding()).state == "ok"
    house.health.refused("127.0.0.1")
    await house.health.write()
    found = await house.finding("127.0.0.1/32")
    assert found.why == "The rate limit refused 10 requests from 127.0.0.1, an address of a private network."
    assert "let it send X-Forwarded-For" in found.todo


async def test_refusals_are_counted_within_an_hour(house: House) -> None:
    """Nine refusals now and nine an hour later are not many."""
    for _ in range(2):
        for _ in range(MANY_REFUSED - 1):
            house.health.refused("127.0.0.1")
        await house.health.write()
        house.clock.advance(HOUR)
    assert (await house.finding()).state == "ok"


async def test_requests_write_nothing(house: House) -> None:
    """What a request shows is kept in memory; the job writes it once, and again only after ten minutes."""
    with logged() as events:
        for _ in range(60):
            for _ in range(20):
                house.health.forwards(EDGE)
                house.health.refused(EDGE)
            await house.health.write()
            house.clock.advance(60)
        await house.health.write()
    assert house.store.commits == 6 + 1
    assert [one["address"] for one in events] == [EDGE]
    assert (await house.finding()).why.endswith("The limit refused 1200 requests.")


async def test_without_a_proxy_nothing_is_written(house: House) -> None:
    """A service that shows nothing of the kind writes nothing."""
    await house.health.write()
    assert house.store.commits == 0


async def test_processes_that_write_at_once(house: House) -> None:
    """What another process overtook is written all the same."""
    house.health.forwards(EDGE)

    async def overtake() -> None:
        house.store.overtaken_by = None
        other = house.another()
        other.forwards("10.0.0.6")
        await other.write()

    house.store.overtaken_by = overtake
    await house.health.write()
    assert EDGE in (await house.finding()).why


async def test_a_store_that_fails(house: House) -> None:
    """A store that cannot be read makes no second finding; what cannot be written is written the next time."""
    house.store.get_errors = [StoreUnavailable("The disk is full.")]
    assert await house.health.local() == []
    house.health.forwards(EDGE)
    house.store.commit_errors = [StoreUnavailable("The disk is full.")]
    await house.health.write()
    assert (await house.finding()).state == "ok"
    await house.health.write()
    assert (await house.finding()).state == "broken"


@pytest.mark.parametrize("value", [b"", b"{}", b'{"v": 1, "address": "x", "forwards": true, "refused": 0}'])
async def test_a_damaged_record(value: bytes, house: House) -> None:
    """A record that cannot be read is no proxy, and hides none."""
    await house.store.commit([Put("checkout-untrusted-proxy", value)])
    assert (await house.finding()).state == "ok"
    house.health.forwards(EDGE)
    await house.health.write()
    assert (await house.finding()).state == "broken"
