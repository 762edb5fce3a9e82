"""Numbers without gaps, by series and year: never one twice, whatever is killed, restored or erased."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.numbering import LONG, PART
from orrery.checkout.number_records import LastNumber
from orrery.errors import Invalid
from orrery.ports.store import Delete, Put, Store
from orrery.runtime.collection import write
from orrery.runtime.index_key import index_key
from orrery.runtime.replaced import ReplacedStore
from tests.support.checkout import BUYER, PRODUCT, Shop, session_json
from tests.support.clock import START, ManualClock
from tests.support.killed import Fuse, Killed
from tests.support.unreliable_store import UnreliableStore

NORTH = {"seller": "Northwind GmbH", "number_series": "NW", "time_zone": "Europe/Berlin"}
YEAR = START.year


def shop_over(store: Store, clock: ManualClock, **other: Any) -> Shop:  # noqa: ANN401  any argument of a shop
    """Return a shop in live mode whose seller numbers without gaps."""
    fields: dict[str, Any] = {"clock": clock, "over": store, "livemode": True, "seller": NORTH}
    return Shop(**fields | other)


def numbering_shop(**other: Any) -> Shop:  # noqa: ANN401  any argument of a shop
    """Return the same over an empty store."""
    clock = ManualClock()
    return shop_over(MemoryStore(clock), clock, **other)


async def sell(shop: Shop, *session_ids: str, livemode: bool = True) -> None:
    """Sell sessions, one a second."""
    await shop.offered(*session_ids)
    for session_id in session_ids:
        shop.clock.advance(1)
        created = int(shop.clock.now().timestamp())
        body = session_json(session_id, livemode=livemode, created=created)
        assert await shop.receive(f"evt_{session_id}", body, livemode=livemode, created=created) == "granted"


async def numbers(shop: Shop, *session_ids: str) -> list[str | None]:
    """Return the numbers of sales."""
    return [(await shop.access(one)).sale_number for one in session_ids]


async def receipts(shop: Shop) -> dict[str, str]:
    """Return the numbers of the receipts that are enqueued, by the ids of the e-mails."""
    told = [one for one in await shop.told() if one.channel == "email"]
    return {one.id: one.title.partition("(receipt ")[2].rstrip(")") for one in told}


async def test_in_order_and_before_the_receipt() -> None:
    """A sale opens its access at once; the receipt comes with the number, in the order of the sales."""
    shop = numbering_shop()
    await sell(shop, "cs_2", "cs_1")
    assert (await shop.lookup.check_email(BUYER, PRODUCT.cert_code)).granted
    assert await receipts(shop) == {}
    assert await shop.numbering.run() == 2
    assert await shop.numbering.run() == 0
    assert await numbers(shop, "cs_2", "cs_1") == [f"NW-{YEAR}-0001", f"NW-{YEAR}-0002"]
    assert await receipts(shop) == {"buyer-cs_2": f"NW-{YEAR}-0001", "buyer-cs_1": f"NW-{YEAR}-0002"}
    assert await shop.lookup.named(f"nw-{YEAR}-0002") == "cs_1"


async def test_what_is_not_numbered() -> None:
    """A sale outside live mode, and access without a sale, take no number: their receipt comes at once."""
    testing, live = numbering_shop(livemode=False), numbering_shop()
    await sell(testing, "cs_1", livemode=False)
    given = await live.desk.grant(BUYER, PRODUCT.key, "a present")
    for shop, session_id in ((testing, "cs_1"), (live, given.session_id)):
        assert await shop.numbering.run() == 0
        assert list(await receipts(shop)) == [f"buyer-{session_id}"]


async def test_a_new_year_at_the_sellers_midnight() -> None:
    """The year is that of the receipt, where the seller is: each begins with 1, and the old one goes on."""
    clock = ManualClock(datetime(2026, 12, 31, 22, 30, tzinfo=UTC))
    shop = shop_over(MemoryStore(clock), clock)
    for session_id, seconds in (("cs_1", 0), ("cs_2", 3600), ("cs_3", -3600)):
        clock.advance(seconds)
        await sell(shop, session_id)
    assert await shop.numbering.run() == 3
    assert sorted(await numbers(shop, "cs_1", "cs_2", "cs_3"), key=str) == [
        "NW-2026-0001",
        "NW-2026-0002",
        "NW-2027-0001",
    ]
    assert await numbers(shop, "cs_2") == ["NW-2027-0001"]


async def test_a_series_that_was_renamed() -> None:
    """Its sales that wait keep it, and get the year of their receipts, where the seller is."""
    clock = ManualClock(datetime(2026, 12, 31, 23, 30, tzinfo=UTC))
    shop = shop_over(MemoryStore(clock), clock)
    await sell(shop, "cs_1")
    renamed = shop_over(shop.store, clock, seller=NORTH | {"number_series": "XX"})
    assert [(one.series, one.year, one.waiting) for one in await renamed.numbering.listed()] == [
        ("NW", 2027, 1),
        ("XX", 2027, 0),
    ]
    assert await renamed.numbering.run() == 1
    assert await numbers(renamed, "cs_1") == ["NW-2027-0001"]


async def test_the_first_hours_of_a_year_after_a_restore() -> None:
    """Of a series that is not in use the zone is unknown: its new year may have begun before the restore."""
    clock = ManualClock(datetime(2026, 12, 31, 12, tzinfo=UTC))
    shop = shop_over(MemoryStore(clock), clock)
    await sell(shop, "cs_1")
    renamed = shop_over(shop.store, clock, seller=NORTH | {"number_series": "XX"})
    _ = await renamed.numbering.take_over(None)
    await sell(renamed, "cs_2")
    clock.advance(timedelta(hours=13).total_seconds())
    await sell(shop, "cs_3")
    assert [(one.series, one.year, one.known) for one in await renamed.numbering.listed()] == [
        ("NW", 2026, False),
        ("NW", 2027, False),
        ("XX", 2026, False),
        ("XX", 2027, True),
    ]


async def test_killed_anywhere() -> None:
    """Wherever the process is killed, a number and its receipt are there, or neither; the next run goes on."""
    at = 0
    while True:
        at += 1
        clock, fuse = ManualClock(), Fuse(at)
        memory = MemoryStore(clock)
        await sell(shop_over(memory, clock), "cs_1", "cs_2")
        with suppress(Killed):
            _ = await shop_over(UnreliableStore(memory, fuse=fuse), clock).numbering.run()
        after = shop_over(memory, clock)
        told = await receipts(after)
        assert {number for number in await numbers(after, "cs_1", "cs_2") if number} == set(told.values())
        _ = await after.numbering.run()
        assert await numbers(after, "cs_1", "cs_2") == [f"NW-{YEAR}-0001", f"NW-{YEAR}-0002"]
        assert len(await receipts(after)) == 2
        if fuse.survived:
            break
    assert at > 2


async def test_two_nodes_at_once() -> None:
    """Two processes that both take the job for theirs give each sale one number, and each number to one sale."""
    one = numbering_shop()
    sold = [f"cs_{number}" for number in range(9)]
    await sell(one, *sold)
    other = shop_over(one.store, one.clock)
    while None in await numbers(one, *sold):
        _ = await asyncio.gather(one.numbering.run(), other.numbering.run())
    assert sorted(filter(None, await numbers(one, *sold))) == [f"NW-{YEAR}-{count:04d}" for count in range(1, 10)]
    assert len(set((await receipts(one)).values())) == 9


async def test_an_erasure_keeps_the_number() -> None:
    """Number and amount stay with the sale; an erased buyer's sale that waits is numbered without an e-mail."""
    shop = numbering_shop()
    await sell(shop, "cs_1")
    _ = await shop.numbering.run()
    await sell(shop, "cs_2")
    _ = await shop.privacy.erase(BUYER, "asked")
    _ = await shop.numbering.run()
    assert await numbers(shop, "cs_1", "cs_2") == [f"NW-{YEAR}-0001", f"NW-{YEAR}-0002"]
    assert ((await shop.access()).amount_total, (await shop.access()).email) == (4900, "")
    assert await receipts(shop) == {}


async def test_a_refund_keeps_the_number() -> None:
    """The news of the end names the receipt that it is about; no later sale gets its number."""
    shop = numbering_shop()
    await sell(shop, "cs_1")
    _ = await shop.numbering.run()
    await shop.desk.revoke("cs_1", "refunded")
    [news] = [one.body for one in await shop.told() if one.id == "ended-cs_1"]
    assert f"Receipt number: NW-{YEAR}-0001" in news
    await sell(shop, "cs_2")
    _ = await shop.numbering.run()
    assert await numbers(shop, "cs_1", "cs_2") == [f"NW-{YEAR}-0001", f"NW-{YEAR}-0002"]


@pytest.mark.parametrize("way", ["revoked", "a year later"])
async def test_an_access_that_ends_before_its_number(way: str) -> None:
    """Its buyer gets the receipt, which says that it has ended, and has no link; no number is left out."""
    shop = numbering_shop()
    await sell(shop, "cs_1")
    if way == "revoked":
        await shop.desk.revoke("cs_1", "refunded")
    else:
        shop.clock.advance(timedelta(days=366).total_seconds())
    _ = await shop.numbering.run()
    [receipt] = [one for one in await shop.told() if one.id == "buyer-cs_1"]
    assert f"Receipt number: NW-{YEAR}-0001" in receipt.body
    assert receipt.body.startswith("Your access to the practice questions for CISSP ended on ")
    assert not [word for word in ("is open", "Start here", "http", "Open it") if word in receipt.body]
    assert await numbers(shop, "cs_1") == [f"NW-{YEAR}-0001"]


async def copied(shop: Shop) -> MemoryStore:
    """Return a snapshot of a shop's store."""
    snapshot = MemoryStore(shop.clock)
    for entry in await shop.entries():
        _ = await snapshot.commit([Put(entry.key, entry.value)])
    return snapshot


async def snapshot_and_after() -> tuple[Shop, Shop]:
    """Return a shop that sold two after a snapshot, and one over the snapshot, which knows neither."""
    shop = numbering_shop()
    _ = await index_key(shop.store)
    await sell(shop, "cs_1")
    _ = await shop.numbering.run()
    snapshot = await copied(shop)
    await sell(shop, "cs_2", "cs_3")
    _ = await shop.numbering.run()
    return shop, shop_over(snapshot, shop.clock)


async def test_a_restore_gives_no_number_twice() -> None:
    """What the replaced store had numbered keeps its number, in whatever order it is found again."""
    replaced, restored = await snapshot_and_after()
    report = await restored.numbering.take_over(ReplacedStore(replaced.store, went_on=True))
    assert not report.sentences
    await sell(restored, "cs_4", "cs_3", "cs_2")
    _ = await restored.numbering.run()
    assert await numbers(restored, "cs_2", "cs_3", "cs_4") == [f"NW-{YEAR}-000{count}" for count in (2, 3, 4)]


@pytest.mark.parametrize("way", ["missing", "other origin", "did not go on", "unreadable"])
async def test_a_restore_that_cannot_know(way: str) -> None:
    """Where the replaced store does not show all numbers, the next is given only after the owner's word."""
    replaced, restored = await snapshot_and_after()
    if way == "other origin":
        _ = await replaced.store.commit([Delete("index-key")])
    if way == "unreadable":
        _ = await replaced.store.commit([Put(f"sale-number-last:NW-{YEAR}", b"{")])
    before = None if way == "missing" else ReplacedStore(replaced.store, went_on=way != "did not go on")
    [sentence] = (await restored.numbering.take_over(before)).sentences
    assert "`orrery checkout numbers`" in sentence
    await sell(restored, "cs_4")
    assert await restored.numbering.run() == 0
    restored.clock.advance(LONG.total_seconds() + 1)
    assert [(one.part, one.state) for one in await restored.numbering.local()] == [(PART, "broken")]
    [waiting] = [one for one in await restored.numbering.listed() if one.waiting]
    assert not waiting.known
    with pytest.raises(Invalid):
        await restored.numbering.confirm([f"NW-{YEAR}-0000"])
    await restored.numbering.confirm([f"NW-{YEAR}-0003"])
    assert await restored.numbering.run() == 1
    assert await numbers(restored, "cs_4") == [f"NW-{YEAR}-0004"]
    assert [one.state for one in await restored.numbering.local()] == ["ok"]


async def test_a_second_restore_asks_no_more_than_the_first() -> None:
    """What the owner has confirmed holds after another restore; what they have not is asked for still."""
    _, restored = await snapshot_and_after()
    snapshot = await copied(restored)
    _ = await restored.numbering.take_over(None)
    again = shop_over(snapshot, restored.clock)
    assert not (await again.numbering.take_over(ReplacedStore(restored.store, went_on=True))).sentences
    assert [one.known for one in await again.numbering.listed()] == [False]
    await restored.numbering.confirm([f"NW-{YEAR}-0003"])
    third = shop_over(await copied(again), restored.clock)
    _ = await third.numbering.take_over(ReplacedStore(restored.store, went_on=True))
    assert [(one.known, one.last) for one in await third.numbering.listed()] == [(True, 3)]
    third.clock.advance(1)
    _ = await third.numbering.take_over(None)
    assert [one.known for one in await third.numbering.listed()] == [False]


async def test_a_counter_that_was_put_back() -> None:
    """A number that a sale has is not given again, whatever the counter holds; that is a problem."""
    shop = numbering_shop()
    await sell(shop, "cs_1", "cs_2")
    _ = await shop.numbering.run()
    await write(shop.store, [shop.stored.last_numbers.put(LastNumber(last=1), f"NW-{YEAR}")])
    await sell(shop, "cs_3")
    shop.clock.advance(LONG.total_seconds() + 1)
    assert await shop.numbering.run() == 0
    assert [(one.state, one.items) for one in await shop.numbering.local()] == [("broken", ("cs_3",))]
    await shop.numbering.confirm([f"NW-{YEAR}-0002"])
    assert await shop.numbering.run() == 1


async def test_a_year_that_begins_after_the_restore_is_known() -> None:
    """No number of a later year was given before: that one begins without the owner's word."""
    _, restored = await snapshot_and_after()
    _ = await restored.numbering.take_over(None)
    restored.clock.advance(timedelta(days=366).total_seconds())
    await sell(restored, "cs_4")
    assert await restored.numbering.run() == 1


async def test_where_nothing_is_numbered_a_restore_asks_nothing() -> None:
    """A shop without a series has no numbers to lose."""
    shop = Shop()
    assert not (await shop.numbering.take_over(None)).sentences
    assert await shop.numbering.local() == []


@pytest.mark.parametrize("text", ["", "NW", "NW-2026", "NW-2026-1", "7K3M-9XQ2-HD4V", "nw 2026 0001"])
async def test_what_is_no_number(text: str) -> None:
    """What is no number of a series is refused by its form."""
    with pytest.raises(Invalid, match="no number of a sale"):
        await numbering_shop().numbering.confirm([text])


async def test_two_last_numbers_of_one_series() -> None:
    """Only one can be the last: nothing is confirmed."""
    shop = numbering_shop()
    with pytest.raises(Invalid, match=f"Two numbers of NW-{YEAR} were named"):
        await shop.numbering.confirm([f"NW-{YEAR}-0010", f"nw-{YEAR}-0005"])
    await shop.numbering.confirm([f"NW-{YEAR}-0010", f"NW-{YEAR + 1}-0005"])
    assert [one.last for one in await shop.numbering.listed()] == [10, 5]
