"""Many lines of access from elsewhere in few commits: each once, whatever comes in between."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.imports import ImportedAccess, Imports
from orrery.checkout.access.rules import one_year_after
from orrery.checkout.collections import former_import_id
from orrery.errors import StoreUnavailable
from tests.support.checkout import BUYER, PRODUCT, Shop, record, session_json, stored_access
from tests.support.clock import START, ManualClock
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

END = START + timedelta(days=90)
MANY = 1050
"""More lines than one commit takes."""


def line(*sales: str, email: str = BUYER, end: timedelta = timedelta(days=90)) -> ImportedAccess:
    """Return a sale of another seller, by its ids there."""
    return ImportedAccess(email, PRODUCT.key, START + end, sales)


def own(email: str, days: int) -> ImportedAccess:
    """Return a line of the owner's own file."""
    return ImportedAccess(email, PRODUCT.key, START + timedelta(days=days), end_is_chosen=True)


async def ends(shop: Shop, email: str = BUYER) -> list[int]:
    """Return the days from now on which the records of a buyer end."""
    return sorted((one.expires_at - START).days for one in await shop.lookup.records_of(email))


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
    assert await shop.imported(line("gumroad:1"), line("gumroad:2", email="kim@example.org")) == 2
    _ = await shop.desk.change_email(await longest(shop), "new@example.org", "asked")
    _ = await shop.privacy.erase("kim@example.org", "asked")
    assert await shop.imported(line("gumroad:1"), line("gumroad:2", email="kim@example.org")) == 0


async def test_an_import_that_was_interrupted() -> None:
    """What was committed stays, and the next import brings the rest: nothing twice, and nobody is missing."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = Shop(clock, store)
    lines = [line(f"gumroad:{number}", email=f"buyer{number}@example.org") for number in range(MANY)]

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


@each_case("first", [("stripe:ch_1", "stripe:pi_1"), ("stripe:pi_1",)])
async def test_a_sale_with_several_ids(first: tuple[str, ...]) -> None:
    """Any id by which it came before is enough to find it, in one file and in later ones."""
    shop = Shop()
    assert await shop.imported(line(*first), line("stripe:pi_1", "stripe:cs_1")) == 1
    assert await shop.imported(line("stripe:cs_1"), line("stripe:pi_1"), line("stripe:ch_1", "stripe:pi_1")) == 0
    assert await shop.imported(line("stripe:ch_1"), line("stripe:ch_2")) == 1


async def test_a_corrected_end() -> None:
    """Another end in the owner's file changes that of the same access, and what a purchase begins with."""
    shop = Shop()
    assert [await shop.imported(own(BUYER, days)) for days in (90, 30, 60)] == [1, 0, 0]
    assert await ends(shop) == [60]
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    assert (await shop.access()).expires_at == one_year_after(START + timedelta(days=60))
    assert [entry.action for entry in (await shop.desk.journal(9)).whole()] == ["import"] * 3


async def test_an_end_that_is_not_corrected() -> None:
    """What was revoked or erased stays so, and an end that was only computed changes none."""
    shop = Shop()
    assert await shop.imported(
        own(BUYER, 90), own("kim@example.org", 90), line("gumroad:1", email="jo@example.org")
    )
    _ = await shop.desk.revoke(await longest(shop), "asked")
    _ = await shop.privacy.erase("kim@example.org", "asked")
    later = line("gumroad:1", email="jo@example.org", end=timedelta(days=200))
    assert await shop.imported(own(BUYER, 30), own("kim@example.org", 30), later) == 0
    assert (await ends(shop), await ends(shop, "jo@example.org")) == ([90], [90])


async def test_a_corrected_end_of_an_earlier_release() -> None:
    """A line that an earlier release named by its end is the same line with another one."""
    shop = Shop()
    earlier = record("imported_1", granted_by="import", expires_at=START + timedelta(days=90), payment_intent=None)
    name = former_import_id(BUYER, PRODUCT.key, earlier.expires_at)
    _ = await shop.store.commit(
        [*stored_access(earlier), shop.stored.imported_lines.put(shop.stored.line_id(name), b"imported_1")]
    )
    assert await shop.imported(own(BUYER, 120)) == 0
    assert await ends(shop) == [120]


async def test_what_was_sold_here_since() -> None:
    """Sessions and payments of this shop are found from the day of the oldest sale on; the rest is not read."""
    shop = Shop()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    names = {"cs_1", "pi_cs_1", "pi_cs_2", "ch_1"}
    assert await shop.imports.sold_here(names, START) == {"cs_1", "pi_cs_1"}
    assert await shop.imports.sold_here(names, START + timedelta(days=1)) == set()


def a_sale(ids: list[str], days: int) -> ImportedAccess:
    """Return a sale with an end that was computed, or one that the owner chose."""
    return replace(line(*ids, end=timedelta(days=days)), end_is_chosen=days > 2)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_a_dry_run_counts_what_the_import_does(data: st.DataObject) -> None:
    """Over any files, one after the other: the same lines are new, corrected and known, and nothing is written."""
    names = st.sampled_from(["stripe:ch_1", "stripe:pi_1", "stripe:ch_2", "gumroad:1"])
    sales = st.builds(a_sale, st.lists(names, min_size=1, max_size=3, unique=True), st.integers(1, 4))
    owns = st.builds(own, st.sampled_from([BUYER, BUYER.upper(), "kim@example.org"]), st.integers(1, 4))
    files = data.draw(st.lists(st.lists(sales | owns, max_size=6), min_size=1, max_size=3))
    asyncio.run(compare(files))


async def compare(files: list[list[ImportedAccess]]) -> None:
    """Import files, each after a dry run, which must find the same."""
    shop = Shop()
    imports = Imports(shop.stored, shop.lookup, shop.desk, shop.emails, batch=2)
    for lines in files:
        before = await shop.entries()
        planned = await imports.bring_in(lines, "", dry_run=True, seen=lambda: None)
        assert await shop.entries() == before
        done = await imports.bring_in(lines, "moved here", seen=lambda: None)
        assert [*planned.new.values()] == [*done.new.values()]
        assert planned.corrected == done.corrected
        assert len(await shop.entries("access:")) - len([e for e in before if e.key.startswith("access:")]) == len(
            done.new
        )
