"""Many lines of access from elsewhere in few commits: each once, whatever comes in between."""

from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.desk import ImportedAccess
from orrery.checkout.access.rules import one_year_after
from orrery.errors import StoreUnavailable
from tests.support.checkout import BUYER, PRODUCT, Shop, session_json
from tests.support.clock import START, ManualClock
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

END = START + timedelta(days=90)
MANY = 250
"""More lines than one commit takes."""


def line(sale: str, email: str = BUYER, end: timedelta = timedelta(days=90)) -> ImportedAccess:
    """Return a sale of another seller."""
    return ImportedAccess(email, PRODUCT.key, START + end, sale)


async def test_one_buyer_from_two_exports() -> None:
    """Each sale is a record; access ends with the last, and a purchase extends that, also where one is revoked."""
    shop = Shop()
    lines = [line("gumroad:1", end=timedelta(days=200)), line("stripe:1"), line("gumroad:1"), line("stripe:2")]
    assert await shop.imported(*lines) == 3
    assert (await shop.lookup.check_email(BUYER, "cissp")).expires_at == START + timedelta(days=200)
    assert await shop.imported(*lines, line("stripe:3")) == 1
    _ = await shop.desk.revoke(await longest(shop), "refunded there")
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    assert (await shop.access()).expires_at == one_year_after(END)


async def longest(shop: Shop) -> str:
    """Return the session id of the buyer's record that ends last."""
    found = (await shop.desk.find(BUYER)).values()
    return max(found, key=lambda one: one.expires_at).session_id


async def test_a_sale_stays_found() -> None:
    """A line whose record has another address by now, or was erased, is not imported again."""
    shop = Shop()
    assert await shop.imported(line("gumroad:1"), line("gumroad:2", "kim@example.org")) == 2
    _ = await shop.desk.change_email(await longest(shop), "new@example.org", "asked")
    _ = await shop.privacy.erase("kim@example.org", "asked")
    assert await shop.imported(line("gumroad:1"), line("gumroad:2", "kim@example.org")) == 0


async def test_an_import_that_was_interrupted() -> None:
    """What was committed stays, and the next import brings the rest: nothing twice, and nobody is missing."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = Shop(clock, store)
    lines = [line(f"gumroad:{number}", f"buyer{number}@example.org") for number in range(MANY)]

    async def fill_the_disk() -> None:
        store.commit_errors = [StoreUnavailable("The disk is full.")] * (store.commits - 1)

    store.overtaken_by = fill_the_disk
    with pytest.raises(StoreUnavailable):
        _ = await shop.imported(*lines)
    store.overtaken_by, store.commit_errors = None, []
    assert 0 < len(await shop.entries("access:")) < MANY
    new = await shop.imported(*lines)
    assert (0 < new < MANY, len(await shop.entries("access:"))) == (True, MANY)
    assert len(await shop.entries("journal:")) == MANY


async def test_a_sale_in_between() -> None:
    """A buyer who pays here while the export is brought in has the later end, and both records."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop, node = Shop(clock, store), Shop(clock, store.inside)

    async def pay() -> None:
        store.overtaken_by = None
        await node.offered("cs_1")
        await node.receive("evt_1", session_json())

    store.overtaken_by = pay
    assert await shop.imported(line("gumroad:1")) == 1
    await shop.offered("cs_2")
    await shop.receive("evt_2", session_json("cs_2"))
    assert (await shop.access("cs_2")).expires_at == one_year_after(one_year_after(START))
