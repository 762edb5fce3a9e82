"""An erasure while the shop goes on: nothing gets away, nothing comes back, and nothing else is undone."""

from collections.abc import Awaitable, Callable

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import Invalid
from orrery.ports.store import Put
from orrery.runtime.outbox import Outbox
from tests.support.checkout import BUYER, Shop, session, session_json
from tests.support.clock import START, ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

COMMITS = (1, 2, 3)
"""What an undisturbed erasure of one sale commits: the mail, the event, the record."""


async def erased_while(act: Callable[[Shop], Awaitable[object]], commit: int) -> Shop:
    """Sell, and erase the buyer while `act` comes ahead of one of the erasure's commits."""
    clock = ManualClock()
    others = Shop(clock, MemoryStore(clock))
    await others.offered("cs_1", "cs_2")
    await others.receive("evt_1", session_json())
    store = UnreliableStore(others.store)

    async def overtake() -> None:
        if store.commits == commit:
            store.overtaken_by = None
            await act(others)

    store.overtaken_by = overtake
    await Shop(clock, store).privacy.erase(BUYER, "asked")
    return others


async def mentions(shop: Shop) -> list[str]:
    """Return the keys of what still holds the buyer's address."""
    return [entry.key for entry in await shop.entries() if BUYER.encode() in entry.value]


@pytest.mark.parametrize("commit", COMMITS)
async def test_a_delivery_meanwhile_leaves_no_address(commit: int) -> None:
    """A mail that is delivered during the erasure does not keep the address."""

    async def deliver(shop: Shop) -> None:
        taken = ScriptedNotifier()
        await Outbox(shop.store, shop.clock, {"push": taken, "email": taken}).deliver_due()

    assert await mentions(await erased_while(deliver, commit)) == []


@pytest.mark.parametrize("commit", COMMITS)
async def test_a_sale_meanwhile_leaves_no_address(commit: int) -> None:
    """What the buyer buys during the erasure is erased too."""
    shop = await erased_while(lambda shop: shop.receive("evt_2", session_json("cs_2")), commit)
    assert await mentions(shop) == []


@pytest.mark.parametrize("commit", COMMITS)
async def test_a_revocation_meanwhile_holds(commit: int) -> None:
    """Access that the owner takes back during the erasure stays taken back."""
    shop = await erased_while(lambda shop: shop.desk.revoke("cs_1", "refunded"), commit)
    assert (await shop.access()).revoked_at == START


async def test_a_late_event_does_not_bring_the_buyer_back(shop: Shop) -> None:
    """An event that comes after reconciliation and an erasure is known, and nothing of its buyer is kept."""
    await shop.offered("cs_1")
    shop.processor.sessions.append(session(price_ids=("price_cissp",)))
    await shop.reconciliation.run()
    await shop.privacy.erase(BUYER, "asked")
    assert await shop.receive("evt_late", session_json()) == "already"
    assert await mentions(shop) == []
    assert [entry.key for entry in await shop.entries("event:")] == ["event:evt_late"]


@pytest.mark.parametrize("reason", ["ann@example.org asked", "on behalf of <Ann@Example.org>", " "])
async def test_no_address_in_a_reason(reason: str, shop: Shop) -> None:
    """A reason is kept permanently: one that names an address is refused before anything is erased or changed."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    before = await shop.entries()
    with pytest.raises(Invalid, match="reason"):
        await shop.privacy.erase(BUYER, reason)
    with pytest.raises(Invalid, match="reason"):
        await shop.desk.change_email("cs_1", "bob@example.org", reason)
    assert await shop.entries() == before


async def test_every_client_address_that_is_due_goes_at_once() -> None:
    """However many offers turn thirty days old, one round of the job erases all their addresses."""
    shop, count = Shop(), 1201
    for number in range(count):
        await shop.store.commit([Put(f"offer-address:20260301T120000.000000Z:cs_{number}", b"cs_%d" % number)])
    shop.clock.advance(31 * 86_400)
    assert await shop.buyer_data.erase_old_addresses() == count
    assert await shop.entries("offer-address:") == []
