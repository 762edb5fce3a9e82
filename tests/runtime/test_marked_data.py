"""What follows from a mark alone: a collection that no source of its module answers for is exported and erased."""

from typing import Literal

import pytest
from pydantic import AwareDatetime

from orrery.adapters.memory import MemoryStore
from orrery.ports.store import Put
from orrery.record import Code, PersonalText, Record
from orrery.runtime.collection import Collection, write
from orrery.runtime.marked_data import MarkedData, with_marked
from orrery.runtime.module import Module
from orrery.runtime.own_store import Marked, NotDeclaredError, OwnStore
from orrery.runtime.privacy import Privacy
from tests.support.clock import START, ManualClock

pytestmark = pytest.mark.anyio

ANN = "ann@buyer.example"
MODULE = Module("guests", prefixes=("guest:", "visit:"))


class Guest(Record):
    """A record of the tests with marked fields of each shape."""

    v: Literal[1] = 1
    email: PersonalText
    phone: PersonalText | None
    notes: tuple[PersonalText, ...] = ()
    room: Code


class Visit(Record):
    """A record of the tests without a mark."""

    v: Literal[1] = 1
    at: AwareDatetime


class House:
    """A module's store with two collections, as its composition sees them."""

    def __init__(self) -> None:
        self.clock, self.marked = ManualClock(), Marked()
        self.store = OwnStore(MemoryStore(self.clock), MODULE, self.marked)
        self.guests = Collection(self.store, self.clock, Guest, "guest:")
        self.visits = Collection(self.store, self.clock, Visit, "visit:")
        self.privacy = Privacy(self.store, with_marked([], self.marked))

    async def stay(self, guest_id: str, email: str = ANN) -> None:
        """Store a guest."""
        guest = Guest(email=email, phone="1", notes=("likes tea",), room="7")
        await write(self.store, self.guests.writes(guest, guest_id))


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


async def test_a_key_that_names_the_person_is_deleted() -> None:
    """So is a record that names it and cannot be read."""
    house = House()
    await house.stay(ANN)
    await write(house.store, [Put("guest:broken", f'{{"email": "{ANN}"'.encode())])
    assert len((await house.privacy.export(ANN))["guest"]) == 2
    _ = await house.privacy.erase(ANN, "asked")
    assert [entry.key async for entry in house.guests.entries()] == []


def test_a_collection_that_comes_too_late_is_refused() -> None:
    """Once the modules are built, no export would reach it; one that was there may be made again."""
    house = House()
    house.marked.closed = True
    _ = Collection(house.store, house.clock, Guest, "guest:")
    with pytest.raises(NotDeclaredError, match="guests makes the collection guest:late"):
        _ = Collection(house.store, house.clock, Guest, "guest:late")


def test_a_source_of_the_module_goes_first() -> None:
    """What a module answers for itself gets no second source."""
    house = House()
    own = MarkedData(house.guests).source()
    assert with_marked([own], house.marked) == [own]
