"""What follows from a mark alone: a collection that no source of its module answers for is exported and erased."""

import pytest
from pydantic import AwareDatetime

from orrery.adapters.memory import MemoryStore
from orrery.ports.store import Put
from orrery.record import Code, PersonalText, Record
from orrery.runtime.collection import FOR_EVER, Collection, write
from orrery.runtime.module import Module
from orrery.runtime.own_store import Marked, NotDeclaredError, OwnStore
from orrery.runtime.personal_entries import marked_entries, with_marked
from orrery.runtime.privacy import Privacy
from tests.support.clock import START, ManualClock

ANN, BOB = "ann@buyer.example", "bob@buyer.example"
KEY = b"the key of the store"
MODULE = Module("guests", prefixes=("guest:", "visit:"))


class Guest(Record):
    """A record of the tests with marked fields of each shape."""

    email: PersonalText
    phone: PersonalText | None
    notes: tuple[PersonalText, ...] = ()
    room: Code


class Visit(Record):
    """A record of the tests without a mark."""

    at: AwareDatetime


class House:
    """A module's store with two collections, as its composition sees them."""

    def __init__(self, clock: ManualClock | None = None) -> None:
        self.clock, self.marked = clock or ManualClock(), Marked()
        self.store = OwnStore(MemoryStore(self.clock), MODULE, self.marked)
        self.guests = Collection(self.store, self.clock, Guest, "guest:", life=FOR_EVER)
        self.visits = Collection(self.store, self.clock, Visit, "visit:", life=FOR_EVER)
        self.privacy = Privacy(self.store, with_marked([], self.marked, KEY))

    async def stay(self, guest_id: str, email: str = ANN) -> None:
        """Store a guest."""
        guest = Guest(email=email, phone="1", notes=("likes tea",), room="7")
        await write(self.store, self.guests.writes(guest, guest_id))

    async def restored(self) -> "House":
        """Return the house as a snapshot of this moment has it."""
        snapshot = House(self.clock)
        await write(snapshot.store, [Put(one.key, one.value) for one in await self.store.scan("")])
        return snapshot

    async def again(self, before: "House") -> int:
        """Repeat the erasures of the house before, as a restore does; return how many were needed."""
        done, left_out = await self.privacy.erase_again(await self.privacy.erasures(before.store))
        assert not left_out
        return done

    async def emails(self) -> dict[str, str]:
        """Return who stays, by the guests' ids."""
        return {one.id: one.record.email for one in (await self.guests.all()).records}


async def test_a_marked_collection_is_exported() -> None:
    """By its prefix, without a line of its module; one without a mark has nobody in it."""
    house = House()
    await house.stay("g1")
    await house.stay("g2", "bob@buyer.example")
    await write(house.store, house.visits.writes(Visit(at=START), "v1"))
    found = await house.privacy.export(ANN)
    assert list(found) == ["guest"]
    assert [one["email"] for one in found["guest"] if isinstance(one, dict)] == [ANN]


async def test_it_is_erased_by_its_marks() -> None:
    """Every marked field is emptied, and what is not about the person stays; others stay as they are."""
    house = House()
    await house.stay("g1")
    await house.stay("g2", "bob@buyer.example")
    erasure = await house.privacy.erase(ANN, "asked")
    assert len(erasure.data["guest"]) == 1
    assert (await house.guests.require("g1")).record == Guest(email="", phone=None, room="7")
    assert (await house.guests.require("g2")).record.email == "bob@buyer.example"


async def test_fields_of_a_later_release_are_dropped() -> None:
    """Whoever they name: what this release knows of the record stays."""
    house = House()
    later = Guest(email=ANN, phone="1", room="7").to_bytes()[:-1] + f', "partner": "{ANN}"}}'.encode()
    await write(house.store, [Put("guest:g1", later)])
    _ = await house.privacy.erase(ANN, "asked")
    assert (await house.guests.require("g1")).record.to_bytes() == Guest(email="", phone=None, room="7").to_bytes()


async def test_a_key_that_names_the_person_is_deleted() -> None:
    """So is a record that names it and cannot be read."""
    house = House()
    await house.stay(ANN)
    await write(house.store, [Put("guest:broken", f'{{"email": "{ANN}"'.encode())])
    assert len((await house.privacy.export(ANN))["guest"]) == 2
    _ = await house.privacy.erase(ANN, "asked")
    assert [entry.key async for entry in house.guests.entries()] == []


async def test_an_erasure_is_repeated_after_a_restore() -> None:
    """Of what an older snapshot brings back: a record without its person, and none whose key names it."""
    house = House()
    for guest_id, email in (("g1", ANN), (ANN, ANN), ("g2", BOB)):
        await house.stay(guest_id, email)
    snapshot, older = await house.restored(), await house.restored()
    house.clock.advance(60)
    _ = await house.privacy.erase(ANN, "asked")
    assert await snapshot.again(house) == 2
    assert await snapshot.emails() == {"g1": "", "g2": BOB}
    assert (await snapshot.guests.require("g1")).record.phone is None
    assert await snapshot.again(house) == 0
    # The one that was restored knows it, too, whatever it held: a further restore asks it.
    empty = House(house.clock)
    assert await empty.again(snapshot) == 0
    assert await older.again(empty) == 2
    assert await older.emails() == {"g1": "", "g2": BOB}
    kept = [one for place in (snapshot, empty, older) for one in await place.store.scan("")]
    assert not [one.key for one in kept if ANN in one.key or ANN.encode() in one.value]


async def test_what_came_after_an_erasure_stays() -> None:
    """The snapshot knows the erasure: who is there under the same id came again, until a second erasure."""
    house = House()
    await house.stay(ANN)
    _ = await house.privacy.erase(ANN, "asked")
    house.clock.advance(60)
    await house.stay(ANN)
    snapshot = await house.restored()
    assert await snapshot.again(house) == 0
    assert await snapshot.emails() == {ANN: ANN}
    house.clock.advance(60)
    _ = await house.privacy.erase(ANN, "asked once more")
    assert await snapshot.again(house) == 1
    assert await snapshot.emails() == {}


def test_a_collection_that_comes_too_late_is_refused() -> None:
    """Once the modules are built, no export would reach it; one that was there may be made again."""
    house = House()
    house.marked.closed = True
    _ = Collection(house.store, house.clock, Guest, "guest:", life=FOR_EVER)
    with pytest.raises(NotDeclaredError, match="guests makes the collection guest:late"):
        _ = Collection(house.store, house.clock, Guest, "guest:late", life=FOR_EVER)


def test_a_source_of_the_module_goes_first() -> None:
    """What a module answers for itself gets no second source."""
    house = House()
    own = marked_entries(house.guests, KEY).source("guests", 1)
    assert with_marked([own], house.marked, KEY) == [own]
