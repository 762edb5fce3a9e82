"""Typed records over each store: read, changed, listed, indexed and kept in one way."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime

from orrery.adapters.memory import MemoryStore
from orrery.errors import NotFound, RecordUnreadable, StoreUnavailable
from orrery.ports.store import Absent, Committed, Conflict, Delete, Put, Store, StoreEntry
from orrery.record import Record
from orrery.runtime.collection import (
    FOR_EVER,
    PAGE,
    Collection,
    RecordPage,
    Walk,
    commit,
    compare_and_set,
    indexed_id,
    parse,
    sortable,
)
from tests.support.clock import ManualClock
from tests.support.stores import keys_of
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

DAY = timedelta(days=1)
LIFE = {"open": None, "sent": 30 * DAY, "lost": 60 * DAY}


class Parcel(Record):
    """A record of the tests."""

    id: str
    to: str = "somebody"
    state: Literal["open", "sent", "lost"] = "open"
    count: int = 0
    at: AwareDatetime | None = None


def by_receiver(parcel: Parcel) -> Iterable[str]:
    """Index a parcel by its receiver, unless it is lost."""
    return () if parcel.state == "lost" else (f"parcel-to:{parcel.to}:{parcel.id}",)


def life(parcel: Parcel) -> timedelta | None:
    """Return how long a parcel is kept."""
    return LIFE[parcel.state]


@pytest.fixture
def parcels(store: Store, clock: ManualClock) -> Collection[Parcel]:
    """Return an empty collection."""
    return Collection(store, clock, Parcel, "parcel:", by_receiver, life=life)


async def add(parcels: Collection[Parcel], *added: Parcel) -> None:
    """Store parcels."""
    for parcel in added:
        assert isinstance(await commit(parcels.store, parcels.changes(parcel.id, None, parcel)), Committed)


async def put(parcels: Collection[Parcel], parcel_id: str, value: bytes) -> None:
    """Store bytes in a parcel's place."""
    assert isinstance(await parcels.store.commit([Put(parcels.key(parcel_id), value)]), Committed)


async def ids(pages: AsyncIterator[RecordPage[Parcel]]) -> list[str]:
    """Return the ids of the records in pages."""
    return [one.id async for page in pages for one in page.records]


WELL = b'{"v":1,"id":"p1"}'
NEWER = WELL.replace(b'"v":1', b'"v":2')
DAMAGED = [
    b"",
    WELL[:-1],
    b"\xff" + WELL,
    NEWER,
    b'{"v":1,"id":7}',
    b'{"v":1,"id":"p1","count":' + b"9" * 5000 + b"}",
    b'{"v":1,"id":"p1","at":"2026-03-01T12:00:00"}',
    b"[" * 100_000,
    b"null",
    b"[1]",
    b'"\\ud800"',
]


async def test_added_and_read(parcels: Collection[Parcel]) -> None:
    """A record is read as it was stored, with its version; what was never stored is None, or not found."""
    await add(parcels, Parcel(id="p1", count=3))
    found = await parcels.require("p1")
    assert (found.id, found.record, found.expires_at) == ("p1", Parcel(id="p1", count=3), None)
    assert await parcels.get("p2") is None
    with pytest.raises(NotFound, match="parcel:p2"):
        await parcels.require("p2")


async def test_added_once(parcels: Collection[Parcel]) -> None:
    """A second record of an id is a conflict."""
    await add(parcels, Parcel(id="p1"))
    outcome = await commit(parcels.store, parcels.changes("p1", None, Parcel(id="p1", count=9)))
    assert outcome == Conflict(("parcel:p1",))
    assert (await parcels.require("p1")).record.count == 0


@pytest.mark.parametrize("value", DAMAGED)
async def test_a_damaged_record(parcels: Collection[Parcel], value: bytes) -> None:
    """The error names the record, says what to do, and holds nothing of its content; lists go on without it."""
    await add(parcels, Parcel(id="p0"), Parcel(id="p2"))
    await put(parcels, "p1", value)
    with pytest.raises(RecordUnreadable, match=r"^The record parcel:p1 cannot be read: .* a backup\.$") as raised:
        await parcels.get("p1")
    assert raised.value.__context__ is None, "pydantic's error holds what is stored"
    assert await parcels.find("p1") is None
    page = await parcels.all()
    assert [one.id for one in page.records] == ["p0", "p2"]
    assert [one.name for one in page.unreadable] == ["parcel:p1"]


async def test_only_an_older_damage_is_overwritten(parcels: Collection[Parcel]) -> None:
    """A damaged record counts as none where it may be replaced; the record of a newer release may not be."""
    assert await parcels.replaceable("p1") == (None, Absent("parcel:p1"))
    await put(parcels, "p1", WELL)
    record, unchanged = await parcels.replaceable("p1")
    assert record == Parcel(id="p1")
    await put(parcels, "p1", WELL[:-1])
    assert isinstance(await parcels.store.commit([parcels.put(Parcel(id="p1"), "p1")], [unchanged]), Conflict)
    record, unchanged = await parcels.replaceable("p1")
    assert record is None
    assert isinstance(await parcels.store.commit([parcels.put(Parcel(id="p1"), "p1")], [unchanged]), Committed)
    await put(parcels, "p1", NEWER)
    with pytest.raises(RecordUnreadable, match="parcel:p1"):
        await parcels.replaceable("p1")
    derived = Collection(parcels.store, parcels.clock, Parcel, "parcel:", derived=True, life=FOR_EVER)
    record, unchanged = await derived.replaceable("p1")
    assert record is None
    assert isinstance(await parcels.store.commit([derived.put(Parcel(id="p1"), "p1")], [unchanged]), Committed)


async def test_the_index_follows(parcels: Collection[Parcel]) -> None:
    """An index entry moves with its record, and goes with it; an unchanged one is not written again."""
    await add(parcels, Parcel(id="p1", to="ann"), Parcel(id="p2", to="ann"))
    await parcels.update("p1", lambda one: one.change(to="bob"))
    assert await keys_of(parcels.store, "parcel-to:") == ["parcel-to:ann:p2", "parcel-to:bob:p1"]
    old = await parcels.require("p1")
    assert [one.key for one in parcels.changes("p1", old, old.record.change(count=1)).writes] == ["parcel:p1"]
    deleted = parcels.changes("p1", old, None)
    assert list(deleted.writes) == [Delete("parcel-to:bob:p1"), Delete("parcel:p1")]
    assert isinstance(await commit(parcels.store, deleted), Committed)
    assert await keys_of(parcels.store, "parcel") == ["parcel-to:ann:p2", "parcel:p2"]


async def test_how_long_it_is_kept(parcels: Collection[Parcel], clock: ManualClock) -> None:
    """A change leaves what remains of a record's life, a new state begins its own; the index lives as long."""
    await add(parcels, Parcel(id="p1", state="sent"))
    clock.advance((10 * DAY).total_seconds())
    await parcels.update("p1", lambda one: one.change(count=1))
    assert await expiry(parcels, "parcel:p1", "parcel-to:somebody:p1") == {clock.now() + 20 * DAY}
    old = await parcels.require("p1")
    await commit(parcels.store, parcels.changes("p1", old, old.record, renewed=True))
    assert await expiry(parcels, "parcel:p1", "parcel-to:somebody:p1") == {clock.now() + 30 * DAY}
    await parcels.update("p1", lambda one: one.change(state="open"))
    assert await expiry(parcels, "parcel:p1", "parcel-to:somebody:p1") == {None}
    await parcels.update("p1", lambda one: one.change(state="lost"))
    assert await expiry(parcels, "parcel:p1") == {clock.now() + 60 * DAY}


async def test_a_life_of_an_earlier_release(parcels: Collection[Parcel], clock: ManualClock) -> None:
    """What another release kept for a time keeps the rest of it, until its life begins anew."""
    assert isinstance(await parcels.store.commit([Put("parcel:p1", WELL, 10 * DAY)]), Committed)
    await parcels.update("p1", lambda one: one.change(count=1))
    assert await expiry(parcels, "parcel:p1") == {clock.now() + 10 * DAY}
    old = await parcels.require("p1")
    await commit(parcels.store, parcels.changes("p1", old, old.record, renewed=True))
    assert await expiry(parcels, "parcel:p1") == {None}


async def test_a_life_that_is_nearly_over(parcels: Collection[Parcel], clock: ManualClock) -> None:
    """A record that has seconds left is kept for the shortest time that the store allows."""
    await add(parcels, Parcel(id="p1", state="sent"))
    clock.advance((30 * DAY).total_seconds() - 5)
    await parcels.update("p1", lambda one: one.change(count=1))
    assert await expiry(parcels, "parcel:p1") == {clock.now() + timedelta(seconds=60)}


async def expiry(parcels: Collection[Parcel], *keys: str) -> set[datetime | None]:
    """Return when entries expire; each is there."""
    found = [await parcels.store.get(key) for key in keys]
    assert all(found)
    return {one.expires_at for one in found if one}


async def test_ten_updates_at_once(parcels: Collection[Parcel]) -> None:
    """No update is lost when ten meet."""
    await add(parcels, Parcel(id="p1"))
    await asyncio.gather(*(parcels.update("p1", lambda one: one.change(count=one.count + 1)) for _ in range(10)))
    assert (await parcels.require("p1")).record.count == 10


async def test_an_update_that_changes_nothing(parcels: Collection[Parcel]) -> None:
    """It writes nothing."""
    await add(parcels, Parcel(id="p1"))
    before = (await parcels.require("p1")).version
    assert await parcels.update("p1", lambda one: one) == Parcel(id="p1")
    assert (await parcels.require("p1")).version == before


async def test_an_update_that_is_always_late(parcels: Collection[Parcel]) -> None:
    """It ends, says which record it is about, and the other's change stands."""
    await add(parcels, Parcel(id="p1"))
    hasty = UnreliableStore(
        parcels.store, overtaken_by=lambda: parcels.update("p1", lambda one: one.change(count=one.count + 1))
    )
    late = Collection(hasty, parcels.clock, Parcel, "parcel:", by_receiver, life=life)
    with pytest.raises(StoreUnavailable, match="parcel:p1"):
        await late.update("p1", lambda one: one.change(to="nobody"))
    assert (await parcels.require("p1")).record.to == "somebody"


async def test_fields_of_a_newer_release(parcels: Collection[Parcel]) -> None:
    """A field that this release does not know is written back (decision 45)."""
    await put(parcels, "p1", b'{"v":1,"id":"p1","weight":3}')
    await parcels.update("p1", lambda one: one.change(count=1))
    entry = await parcels.store.get("parcel:p1")
    assert entry
    assert b'"weight":3' in entry.value


async def test_pages(parcels: Collection[Parcel]) -> None:
    """Pages come by id, forwards and backwards, up to a limit, and of ids that begin alike."""
    await add(parcels, *(Parcel(id=f"p{number}") for number in range(5)), Parcel(id="q1"))
    assert await ids(parcels.pages()) == ["p0", "p1", "p2", "p3", "p4", "q1"]
    assert await ids(parcels.pages(newest_first=True, limit=2)) == ["q1", "p4"]
    assert await ids(parcels.pages("p", limit=3)) == ["p0", "p1", "p2"]
    assert await ids(parcels.pages("x")) == []


async def test_a_long_walk_gives_way(clock: ManualClock) -> None:
    """Between the pages of a long list others have their turn, though the store never waits."""
    parcels = Collection(ReadyStore(clock, 2 * PAGE + 1), clock, Parcel, "parcel:", life=FOR_EVER)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await checkpoint()

    task = asyncio.create_task(other())
    pages = [len(page.records) async for page in parcels.pages()]
    task.cancel()
    assert pages == [PAGE, PAGE, 1]
    assert turns >= 2


class ReadyStore(MemoryStore):
    """A store that answers scans without waiting."""

    def __init__(self, clock: ManualClock, count: int) -> None:
        super().__init__(clock)
        self._ready = [StoreEntry(f"parcel:{number:06}", WELL, 1) for number in range(count)]

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Return a page at once."""
        del prefix, reverse
        return [one for one in self._ready if after is None or one.key > after][:limit]


async def test_as_they_are_stored(parcels: Collection[Parcel]) -> None:
    """Entries come one by one and unread, damaged ones in their places: the records, or those of an index."""
    await add(parcels, Parcel(id="p1", to="zoe"), Parcel(id="p2", to="ann"))
    await put(parcels, "p0", b"damaged")
    assert [one.key async for one in parcels.entries()] == ["parcel:p0", "parcel:p1", "parcel:p2"]
    assert [one.value async for one in parcels.entries("parcel-to:")] == [b"p2", b"p1"]
    assert [one.value async for one in parcels.entries("parcel-to:", limit=1, newest_first=True)] == [b"p1"]


async def test_by_an_index(parcels: Collection[Parcel]) -> None:
    """Records come in the order of an index, with what cannot be read named beside them."""
    await add(parcels, Parcel(id="p1", to="zoe"), Parcel(id="p2", to="ann"), Parcel(id="p3", to="bob"))
    assert await ids(parcels.indexed(Walk("parcel-to:"))) == ["p2", "p3", "p1"]
    assert await ids(parcels.indexed(Walk("parcel-to:", 2, newest_first=True))) == ["p1", "p3"]
    assert await ids(parcels.indexed(Walk("parcel-to:", until="parcel-to:bob:p3"))) == ["p2", "p3"]
    assert await ids(parcels.indexed(Walk("parcel-to:", until="parcel-to:bob", newest_first=True))) == ["p1", "p3"]
    await put(parcels, "p3", WELL[:-1])
    written = [Put("parcel-to:cid:p9", b"p9"), Put("parcel-to:dan:p1", b"no id")]
    assert isinstance(await parcels.store.commit(written), Committed)
    (page,) = [page async for page in parcels.indexed(Walk("parcel-to:"))]
    assert [one.id for one in page.records] == ["p2", "p1"]
    assert [one.name for one in page.unreadable] == ["parcel:p3", "parcel-to:cid:p9", "parcel-to:dan:p1"]


async def test_an_index_that_changes_meanwhile(parcels: Collection[Parcel]) -> None:
    """A record that is deleted between its index and itself is no damage."""
    await add(parcels, Parcel(id="p1"), Parcel(id="p2"))

    async def delete() -> None:
        if old := await parcels.get("p1"):
            await commit(parcels.store, parcels.changes("p1", old, None))

    slow = replace(parcels, store=UnreliableStore(parcels.store, scanned=delete))
    (page,) = [page async for page in slow.indexed(Walk("parcel-to:"))]
    assert ([one.id for one in page.records], page.unreadable) == (["p2"], [])


async def test_several_collections_in_one_commit(parcels: Collection[Parcel]) -> None:
    """Changes add up: one failed check of any of them, and nothing is written."""
    others = Collection(parcels.store, parcels.clock, Parcel, "other:", life=FOR_EVER)
    both = parcels.changes("p1", None, Parcel(id="p1")) + others.changes("o1", None, Parcel(id="o1"))
    assert isinstance(await commit(parcels.store, both), Committed)
    again = parcels.changes("p2", None, Parcel(id="p2")) + others.changes("o1", None, Parcel(id="o1"))
    assert await commit(parcels.store, again) == Conflict(("other:o1",))
    assert await keys_of(parcels.store, "parcel:") == ["parcel:p1"]


@pytest.mark.parametrize("lose", ["before", "after"])
async def test_a_lost_answer(parcels: Collection[Parcel], lose: str) -> None:
    """A commit whose answer was lost is repeated under its id, and done once."""
    store = UnreliableStore(parcels.store)
    store.lose = lose
    outcome = await commit(store, parcels.changes("p1", None, Parcel(id="p1")))
    assert isinstance(outcome, Committed)
    assert (await parcels.require("p1")).version == outcome.version


async def test_a_compare_and_set_ends() -> None:
    """It returns the first outcome that is no conflict, and gives up in the end."""
    outcomes = [Conflict(("a",)), Conflict(("a",)), 3]

    async def attempt() -> int | Conflict:
        return outcomes.pop(0)

    async def late() -> int | Conflict:
        return Conflict(("a",))

    assert await compare_and_set(attempt, "busy") == 3
    with pytest.raises(StoreUnavailable, match="busy"):
        await compare_and_set(late, "busy")


async def test_a_collection_of_one(store: Store, clock: ManualClock) -> None:
    """Its prefix is its key, and it is used without ids."""
    last = Collection(store, clock, Parcel, "last-parcel", life=life)
    assert await last.get() is None
    assert isinstance(await store.commit([last.put(Parcel(id="p1", state="sent"))]), Committed)
    found = await last.require()
    assert (found.record.id, found.expires_at) == ("p1", clock.now() + 30 * DAY)


@given(*[st.datetimes(datetime(1000, 1, 1), timezones=st.just(UTC))] * 2)  # noqa: DTZ001  the zone is added
def test_times_as_text(one: datetime, other: datetime) -> None:
    """The texts of two times sort as the times do."""
    assert (sortable(one) < sortable(other)) == (one < other)


@given(st.binary(max_size=40))
def test_any_bytes(value: bytes) -> None:
    """Whatever bytes are stored are a record or none, and an id or an error."""
    assert isinstance(parse(Parcel, value), Parcel | None)
    with suppress(RecordUnreadable):
        assert indexed_id(StoreEntry("parcel-to:1", value, 1)).isprintable()


@each_case("value", [b"", b"\xff", b"two words", b"a\n", "ü".encode(), b"x" * 513])
def test_what_is_no_id(value: bytes) -> None:
    """An index entry that holds no id is named by its own key."""
    with pytest.raises(RecordUnreadable, match="parcel-to:1"):
        indexed_id(StoreEntry("parcel-to:1", value, 1))


async def test_a_persons_digest_is_left_out(store: Store, clock: ManualClock) -> None:
    """The digest of an address in a key stands in no message."""
    ends = Collection(store, clock, Parcel, "access-end:", life=FOR_EVER)
    assert isinstance(await store.commit([Put(f"access-end:{'0a' * 32}:cissp", b"")]), Committed)
    assert [one.name for one in (await ends.all()).unreadable] == ["access-end:…:cissp"]
