"""What is said of receipts: by readyz, doctor and to the owner."""

from dataclasses import replace

import pytest

from orrery.errors import StoreUnavailable
from orrery.ports.health import Finding
from orrery.runtime.outbox import Outbox
from orrery.runtime.watch import OutageWatch
from tests.support.checkout import OTHER, PRODUCT
from tests.support.till import Rehearsal

pytestmark = pytest.mark.anyio

NEWER = replace(PRODUCT, trust_copy="Newer words for {CERT}.")
BARE = replace(PRODUCT, cert_code="bare", price_id=None)


async def parts(rehearsal: Rehearsal) -> dict[str, Finding]:
    """Return what is found, by part."""
    return {one.part: one for one in await rehearsal.receipts.local()}


async def test_nothing_can_be_sold() -> None:
    """Before the first preflight nothing can be sold: that is essential, and each product is named."""
    finding = (await parts(Rehearsal()))["checkout receipts"]
    assert (finding.state, finding.essential) == ("broken", True)
    assert "isc2/cissp, isc2/ccsp" in finding.why
    assert "orrery checkout preflight" in finding.todo


async def test_one_cannot_be_sold(rehearsal: Rehearsal) -> None:
    """A product that was added is named, and is no reason to take the others off the air."""
    await rehearsal.preflighted("isc2/cissp")
    finding = (await parts(rehearsal))["checkout receipts"]
    assert (finding.state, finding.essential) == ("broken", False)
    assert "isc2/ccsp" in finding.why
    assert "isc2/cissp" not in finding.why


async def test_newer_ones_wait(rehearsal: Rehearsal) -> None:
    """Newer parameters that wait are told, and are not essential: the accepted ones are sold."""
    await rehearsal.preflighted()
    assert {one.state for one in (await parts(rehearsal)).values()} == {"ok"}
    found = await parts(rehearsal.again(products=(NEWER, OTHER)))
    assert set(found) == {"checkout parameters"}
    finding = found["checkout parameters"]
    assert (finding.state, finding.essential) == ("broken", False)
    assert "isc2/cissp" in finding.why


async def test_only_newer_ones_and_new_ones(rehearsal: Rehearsal) -> None:
    """When every product waits, but one is sold as it was accepted, something is sold."""
    await rehearsal.preflighted("isc2/cissp")
    found = await parts(rehearsal.again(products=(NEWER, OTHER)))
    assert [one.essential for one in found.values()] == [False, False]


async def test_without_a_price() -> None:
    """A product without a price cannot be sold in any mode, and is named."""
    for livemode in (True, False):
        rehearsal = Rehearsal(livemode=livemode, products=(PRODUCT, BARE))
        finding = (await parts(rehearsal))["checkout prices"]
        assert (finding.state, finding.essential) == ("broken", False)
        assert "isc2/bare" in finding.why


async def test_outside_live_mode() -> None:
    """Where today's settings are sold, receipts are nobody's concern."""
    assert await parts(Rehearsal(livemode=False)) == {}


async def test_many_products() -> None:
    """Of many products the first five are named."""
    many = tuple(replace(PRODUCT, cert_code=f"cert-{number}") for number in range(9))
    finding = (await parts(Rehearsal(products=many)))["checkout receipts"]
    assert "isc2/cert-4 and 4 more." in finding.why
    assert "cert-5" not in finding.why


async def test_without_addresses_or_store() -> None:
    """Without addresses, or while the store fails, other parts say what is wrong."""
    assert await parts(Rehearsal(terms=None)) == {}
    rehearsal = Rehearsal()
    rehearsal.watched.errors.append(StoreUnavailable("locked"))
    assert await parts(rehearsal) == {}


async def test_the_owner_is_told_once_a_day(rehearsal: Rehearsal) -> None:
    """What waits is pushed once a day until it was tried."""
    await rehearsal.preflighted()
    changed = rehearsal.again(products=(NEWER, OTHER))
    watch = OutageWatch(changed.memory, changed.clock, changed.receipts.local)
    for _ in range(3):
        await watch.notify()
        changed.clock.advance(3600)
    told = [row async for row in Outbox(changed.memory, changed.clock, {}).rows() if row.id.startswith("broken-")]
    assert [(row.channel, row.priority) for row in told] == [("push", "high")]
    assert "newer ones wait for a preflight" in told[0].body
