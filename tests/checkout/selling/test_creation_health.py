"""When failing sessions are an outage, and when it is over."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import SessionMismatch
from orrery.checkout.selling.health import CreationHealth
from orrery.errors import StoreUnavailable
from orrery.ports.health import URGENT, Finding
from orrery.ports.processor.errors import ProcessorError, ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.clock import ManualClock
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

MINUTE = 60
CISSP, CCSP = "isc2/cissp", "isc2/ccsp"
REFUSED = ProcessorRefused(
    "No such price.", status=400, kind="invalid_request_error", param="line_items[0][price]"
)
DOWN = ProcessorUnreachable("The processor cannot be reached.", same_key=True)


@dataclass
class Checkouts:
    """One process that notes how its visitors' requests go; `other` is another over the same store."""

    clock: ManualClock = field(default_factory=ManualClock)

    @cached_property
    def store(self) -> UnreliableStore:
        """The store that all processes share."""
        return UnreliableStore(MemoryStore(self.clock))

    @cached_property
    def health(self) -> CreationHealth:
        """The process."""
        return self.another()

    def another(self) -> CreationHealth:
        """Return another process, or this one after a restart."""
        return CreationHealth(CheckoutRecords(self.store, self.clock, b""))

    async def fail(
        self, count: int = 1, *, every: float = 1, product: str = CISSP, error: ProcessorError = DOWN
    ) -> None:
        """Let requests fail, one every so many seconds."""
        for _ in range(count):
            await self.health.failed(product, error)
            self.clock.advance(every)

    async def finding(self, health: CreationHealth | None = None) -> Finding:
        """Return how creating sessions goes, as another process sees it."""
        (found,) = await (health or self.another()).local()
        return found

    async def is_broken(self) -> bool:
        """Tell whether there is an outage."""
        return (await self.finding()).state == "broken"


@pytest.fixture
def shop() -> Checkouts:
    """Return a new one."""
    return Checkouts()


async def test_five_failures_in_a_row_are_an_outage(shop: Checkouts) -> None:
    """Four failures are none, the fifth is one at once, in every process; it makes unready who has failed."""
    await shop.fail(4)
    assert not await shop.is_broken()
    await shop.fail()
    assert await shop.finding() == replace(found := await shop.finding(shop.health), essential=False)
    assert (found.part, found.state, found.essential) == ("session creation", "broken", True)
    assert found.why == (
        "The checkout fails: 5 requests to start a payment failed since 2026-03-01 12:00 UTC, the last at 12:00 "
        "UTC. All were for isc2/cissp. The processor cannot be reached."
    )


async def test_a_success_ends_a_row(shop: Checkouts) -> None:
    """Four failures, a success and four failures are no outage, nor are two failures with a success between."""
    for _ in range(3):
        await shop.fail(4)
        await shop.health.succeeded(CISSP)
        shop.clock.advance(4 * MINUTE)
    assert not await shop.is_broken()


@pytest.mark.parametrize(("apart", "broken"), [(3 * MINUTE - 1, False), (3 * MINUTE, True), (8 * 3600, True)])
async def test_two_failures_apart_are_an_outage(apart: float, broken: bool, shop: Checkouts) -> None:  # noqa: FBT001  pytest passes parameters by position
    """For few visitors, two failures at least 3 minutes apart with no success between are enough."""
    await shop.fail(every=apart)
    await shop.fail()
    assert await shop.is_broken() == broken


async def test_an_outage_ends_after_ten_minutes_without_a_failure(shop: Checkouts) -> None:
    """Successes do not end it, ten minutes without a failure do; then it is said what was, no more."""
    await shop.fail(5)
    await shop.health.succeeded(CISSP)
    shop.clock.advance(10 * MINUTE - 6)
    assert await shop.is_broken()
    shop.clock.advance(6)
    found = await shop.finding()
    assert (found.state, found.settled) == ("ok", True)
    assert (
        found.why
        == "5 requests to start a payment failed from 2026-03-01 12:00 to 12:00 UTC, and none since then."
    )


async def test_an_outage_lasts_while_requests_fail(shop: Checkouts) -> None:
    """Failures now and then, whatever succeeds between, are one outage; each counts."""
    await shop.fail(5)
    for _ in range(8 * 6):
        await shop.health.succeeded(CISSP)
        await shop.fail(every=9 * MINUTE)
        assert await shop.is_broken()
    assert "53 requests to start a payment failed since 2026-03-01 12:00 UTC" in (await shop.finding()).why


async def test_a_second_outage_begins_like_the_first(shop: Checkouts) -> None:
    """After its end the failures of before count no more: one is none, five are the next outage."""
    await shop.fail(5)
    shop.clock.advance(11 * MINUTE)
    await shop.fail(4)
    assert not await shop.is_broken()
    await shop.fail()
    assert "5 requests to start a payment failed since 2026-03-01 12:11 UTC" in (await shop.finding()).why


async def test_one_product_that_nobody_can_buy(shop: Checkouts) -> None:
    """Failures of one product are an outage though the others sell; the sentence names the product."""
    for _ in range(5):
        await shop.fail(error=REFUSED)
        await shop.health.succeeded(CCSP)
    assert "All were for isc2/cissp." in (await shop.finding()).why


async def test_a_product_that_is_seldom_asked_for(shop: Checkouts) -> None:
    """Two failures of one product 3 minutes apart count, whatever else fails and succeeds between."""
    await shop.fail(every=3 * MINUTE)
    await shop.health.succeeded(CCSP)
    await shop.fail(2, product=CCSP)
    await shop.fail()
    assert await shop.is_broken()


async def test_failures_of_several_products(shop: Checkouts) -> None:
    """Five in a row are an outage whatever they were for, and then no product is named."""
    for product in (CISSP, CCSP, CISSP, CCSP, CISSP):
        await shop.fail(product=product)
    assert "All were for" not in (await shop.finding()).why


async def test_an_outage_that_spreads(shop: Checkouts) -> None:
    """When another product fails too, the first is named no more."""
    await shop.fail(5)
    shop.clock.advance(MINUTE)
    await shop.fail(product=CCSP)
    assert "All were for" not in (await shop.finding()).why


REASONS: dict[str, tuple[ProcessorError, str, str]] = {
    "refused": (REFUSED, "The processor refuses the session: No such price. (line_items[0][price])", "preflight"),
    "key": (ProcessorRefused("The key is wrong.", status=401), "The key is wrong.", "`orrery secrets check`"),
    "odd": (ProcessorUnreachable("Odd.", same_key=True, status=200), "Odd.", "checkout.api_version"),
    "5xx": (ProcessorUnreachable("It said 500.", same_key=False, status=500), "It said 500.", "status page"),
    "network": (DOWN, "The processor cannot be reached.", "network"),
}


@each_case("case", REASONS)
async def test_the_reason_and_what_to_do(case: str) -> None:
    """The likely cause stands there as the processor or the network gave it, with what to do about it."""
    error, why, todo = REASONS[case]
    shop = Checkouts()
    await shop.fail(5, error=error)
    found = await shop.finding()
    assert found.why.endswith(why)
    assert todo in found.todo


async def test_a_long_reason_is_one_short_line(shop: Checkouts) -> None:
    """What a stranger answers is one line without hidden characters, and cut."""
    await shop.fail(5, error=ProcessorRefused("a\n\u202e\ud800" * 1000, status=400))
    found = await shop.finding()
    assert found.why.isprintable()
    assert len(found.why) < 700


async def test_a_restart_amid_an_outage(shop: Checkouts) -> None:
    """A process that starts amid an outage goes on with it at its first failure."""
    await shop.fail(5)
    shop.clock.advance(9 * MINUTE)
    shop.health = shop.another()
    await shop.fail()
    shop.clock.advance(9 * MINUTE)
    assert "6 requests to start a payment failed since 2026-03-01 12:00 UTC" in (await shop.finding()).why


async def test_two_processes_are_one_outage(shop: Checkouts) -> None:
    """Failures of two processes are added up, also when both write at once."""
    other = shop.another()
    await asyncio.gather(*(one.failed(CISSP, DOWN) for _ in range(5) for one in (shop.health, other)))
    shop.clock.advance(MINUTE)
    await asyncio.gather(shop.health.failed(CISSP, DOWN), other.failed(CISSP, DOWN))
    assert "12 requests" in (await shop.finding()).why


async def test_a_flood_of_failures_is_no_flood_of_commits(shop: Checkouts) -> None:
    """Of a thousand failures at once, and of a thousand in a minute, few are written and all are counted."""
    await asyncio.gather(*(shop.health.failed(CISSP, DOWN) for _ in range(1000)))
    assert shop.store.commits == 1
    await shop.fail(1000, every=0.06)
    assert shop.store.commits <= 8
    shop.clock.advance(10)
    await shop.fail()
    assert "2001 requests" in (await shop.finding()).why


async def test_well_visitors_cost_nothing(shop: Checkouts) -> None:
    """Successes, and single failures between them, write nothing, and a success reads nothing."""
    for _ in range(3):
        await shop.health.succeeded(CISSP)
        await shop.fail()
    assert shop.store.commits == 0
    assert shop.store.reads.total() == 3  # at the failures


async def test_five_failures_at_two_nodes_are_an_outage(shop: Checkouts) -> None:
    """Where each has its share, the fifth or, where the first of each is not stored, the sixth tells."""
    other = shop.another()
    for count in range(1, 7):
        await (shop.health if count % 2 else other).failed(CISSP, DOWN)
        shop.clock.advance(1)
        assert await shop.is_broken() == (count >= 5)
    assert "6 requests" in (await shop.finding()).why


@pytest.mark.parametrize("nodes", [2, 3, 7])
async def test_many_nodes_need_no_more_failures_but_the_first_of_each(nodes: int, shop: Checkouts) -> None:
    """Failures that are spread evenly are an outage when five are known to all, and not five times the nodes."""
    spread = [shop.another() for _ in range(nodes)]
    failed = 0
    while not await shop.is_broken():
        await spread[failed % nodes].failed(CISSP, DOWN)
        failed += 1
    assert failed <= 5 + nodes - 1


async def test_a_success_at_one_node_ends_the_row_of_all(shop: Checkouts) -> None:
    """It knows of the other's failures by its last health round; what fails at both later is a new row."""
    other = shop.another()
    for _ in range(3):
        await shop.fail(3)
        await other.failed(CISSP, DOWN)
        await other.local()
        await other.succeeded(CISSP)
        await shop.health.succeeded(CISSP)
        shop.clock.advance(4 * MINUTE)
    assert not await shop.is_broken()
    before = shop.store.commits
    await other.local()
    await other.succeeded(CISSP)
    assert shop.store.commits == before


async def test_a_fault_of_one_node_does_not_hide_behind_the_other(shop: Checkouts) -> None:
    """Five in a row at one node are an outage, whatever succeeds at the other meanwhile; that one stays ready.

    So does one that has sold nothing since its start, until it fails itself.
    """
    other, fresh = shop.another(), shop.another()
    for _ in range(5):
        await shop.fail()
        await other.local()
        await other.succeeded(CISSP)
    for one, ready in ((shop.health, False), (other, True), (fresh, True)):
        found = await shop.finding(one)
        assert (found.state, found.priority, found.essential) == ("broken", URGENT, not ready)
    for one in (other, fresh):
        await one.failed(CISSP, DOWN)
        assert (await shop.finding(one)).essential


async def test_the_release_before_reads_no_outage_in_a_row(shop: Checkouts) -> None:
    """It knows no rows, and takes them for an outage that has been over for years."""
    await shop.fail(2)
    stored = await CheckoutRecords(shop.store, shop.clock, b"").creation_outage.require()
    assert (stored.record.failures, len(stored.record.rows)) == (0, 2)
    assert shop.clock.now() - stored.record.last_failure_at > timedelta(days=365)


async def test_a_store_that_fails_keeps_the_processors_error(shop: Checkouts) -> None:
    """When the outage cannot be written, the visitor's answer stays the same, and the next failure writes it."""
    shop.store.commit_errors = [StoreUnavailable("The disk is full.")] * 4
    await shop.fail(5)
    assert not await shop.is_broken()
    await shop.fail()
    assert "6 requests" in (await shop.finding()).why


async def test_a_store_that_fails_is_another_parts_to_tell(shop: Checkouts) -> None:
    """A store that cannot be read makes no second finding."""
    shop.store.get_errors = [StoreUnavailable("The disk is full.")]
    assert await shop.health.local() == []


@pytest.mark.parametrize("value", [b"", b"{}", b"null"])
async def test_a_damaged_record_is_replaced(value: bytes, shop: Checkouts) -> None:
    """A record that cannot be read is no outage, and hides none."""
    await shop.store.commit([Put("checkout-creation-outage", value)])
    assert not await shop.is_broken()
    await shop.fail(5)
    assert await shop.is_broken()


@pytest.mark.parametrize("jump", [timedelta(hours=5), timedelta(days=400)])
async def test_a_clock_that_was_put_back(jump: timedelta, shop: Checkouts) -> None:
    """An outage seen by a wrong clock does not last for years."""
    await shop.fail(5)
    shop.clock = ManualClock(shop.clock.now() - jump)
    assert (await shop.finding(shop.another())).state == "ok"


async def test_one_odd_session_is_an_outage_at_once(shop: Checkouts) -> None:
    """A session that is not what was asked for is an urgent outage for a day, which leaves the service ready."""
    await shop.fail(error=SessionMismatch("another price"))
    found = await shop.finding(shop.health)
    assert (found.state, found.essential, found.severity) == ("broken", False, 5)
    shop.clock.advance(24 * 3600 - 2)
    assert await shop.is_broken()
    shop.clock.advance(2)
    assert not await shop.is_broken()
