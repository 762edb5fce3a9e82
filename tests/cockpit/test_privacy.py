"""Exporting and erasing a person in the cockpit's own store (decision 51)."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from orrery.cockpit.ledger import Ledger, NewItem
from orrery.cockpit.privacy import LedgerData
from orrery.ports.comms.tasks import NewTask
from orrery.ports.store import Put, Store
from orrery.runtime.privacy import Privacy
from tests.support.clock import WallClock
from tests.support.stores import ADAPTERS, opened

ASKED = "as Bo asked"


class Desk:
    """A ledger, and the privacy of its store."""

    def __init__(self, store: Store, clock: WallClock) -> None:
        self.store, self.clock = store, clock
        self.ledger = Ledger(store, clock)
        self.privacy = Privacy(store, [LedgerData(store, clock).source()])

    async def ids(self) -> set[str]:
        """Return the ids of the items."""
        return {one.id for one in (await self.ledger.all()).records}


@pytest.fixture(params=ADAPTERS)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Desk]:
    """Return a desk over a new store."""
    clock = WallClock()
    async with opened(request.param, tmp_path, clock) as store:
        yield Desk(store, clock)


async def test_a_person_is_found_and_erased(desk: Desk) -> None:
    """By any of an item's texts, in any spelling; another person's items stay."""
    _ = await desk.ledger.note(NewItem("A", "Call her", "Bo@Lab.Example"))
    _ = await desk.ledger.note(NewItem("A", "Write to bo@lab.example today"))
    _ = await desk.ledger.add(NewTask("B", "mail", "m-1", "Hello", "bo@lab.example", 50, "answer", "Inbox"))
    stays = await desk.ledger.note(NewItem("A", "Write to jobo@lab.example"))
    assert len((await desk.privacy.export("bo@lab.example"))["ledger"]) == 3
    erasure = await desk.privacy.erase("bo@lab.example", ASKED)
    assert len(erasure.data["ledger"]) == 3
    assert await desk.ids() == {stays}
    assert (await desk.privacy.export("bo@lab.example"))["ledger"] == []


async def test_what_cannot_be_read_is_erased_too(desk: Desk) -> None:
    """A damaged item that holds the address goes as well."""
    _ = await desk.store.commit([Put("ledger:a-1", b'{"v": 9, "person": "bo@lab.example"')])
    assert len((await desk.privacy.erase("bo@lab.example", ASKED)).data["ledger"]) == 1
    assert await desk.store.get("ledger:a-1") is None


async def test_an_erasure_is_repeated_in_a_restored_store(desk: Desk, tmp_path: Path) -> None:
    """The items of an older snapshot go again, and no others; the snapshot's other items stay."""
    erased = await desk.ledger.note(NewItem("A", "Call her", "bo@lab.example"))
    other = await desk.ledger.note(NewItem("A", "Call Cy", "cy@lab.example"))
    (tmp_path / "restored").mkdir()
    async with opened("sqlite", tmp_path / "restored", desk.clock) as store:
        restored = Desk(store, desk.clock)
        _ = await store.commit([Put(one.key, one.value) for one in await desk.store.scan("ledger:")])
        desk.clock.advance(60)
        _ = await desk.privacy.erase("bo@lab.example", ASKED)
        repeats = await restored.privacy.erasures(desk.store)
        assert await restored.privacy.erase_again(repeats) == (1, [])
        assert await restored.ids() == {other}
        assert erased not in {one.key for one in await store.scan("ledger:")}
        assert await restored.privacy.erase_again(await restored.privacy.erasures(desk.store)) == (0, [])


async def test_what_came_after_an_erasure_stays(desk: Desk) -> None:
    """The same row made a task again, later, is not part of the erasure."""
    task = NewTask("B", "mail", "m-1", "Hello", "bo@lab.example", 50, "answer", "Inbox")
    _ = await desk.ledger.add(task)
    _ = await desk.privacy.erase("bo@lab.example", ASKED)
    desk.clock.advance(1)
    _ = await desk.ledger.add(task)
    assert await desk.privacy.erase_again(await desk.privacy.erasures(desk.store)) == (0, [])
    assert len(await desk.ids()) == 1


async def test_what_was_made_after_an_erasure_stays_without_a_note(desk: Desk, tmp_path: Path) -> None:
    """A store that was made again has no note: the time of the item decides, and the note is kept."""
    task = NewTask("B", "mail", "m-1", "Hello", "bo@lab.example", 50, "answer", "Inbox")
    _ = await desk.ledger.add(task)
    _ = await desk.privacy.erase("bo@lab.example", ASKED)
    desk.clock.advance(1)
    (tmp_path / "made").mkdir()
    async with opened("sqlite", tmp_path / "made", desk.clock) as store:
        made = Desk(store, desk.clock)
        _ = await made.ledger.add(task)
        for _ in range(2):
            assert await made.privacy.erase_again(await made.privacy.erasures(desk.store)) == (0, [])
        assert len(await made.ids()) == 1


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_second_erasure_is_repeated_whatever_the_clock_was(desk: Desk, tmp_path: Path, hours: int) -> None:
    """The clock may have been put back between two erasures of the same item."""
    task = NewTask("B", "mail", "m-1", "Hello", "bo@lab.example", 50, "answer", "Inbox")
    _ = await desk.ledger.add(task)
    _ = await desk.privacy.erase("bo@lab.example", ASKED)
    desk.clock.put(timedelta(hours=hours))
    _ = await desk.ledger.add(task)
    (tmp_path / "restored").mkdir()
    async with opened("sqlite", tmp_path / "restored", desk.clock) as store:
        restored = Desk(store, desk.clock)
        _ = await store.commit([Put(one.key, one.value) for one in await desk.store.scan("ledger")])
        _ = await desk.privacy.erase("bo@lab.example", ASKED)
        assert await restored.privacy.erase_again(await restored.privacy.erasures(desk.store)) == (1, [])
        assert await restored.ids() == set()


async def test_a_note_that_cannot_be_read_is_reported(desk: Desk) -> None:
    """The others are repeated, and the restore names the one that is not."""
    _ = await desk.ledger.note(NewItem("A", "Call her", "bo@lab.example"))
    _ = await desk.privacy.erase("bo@lab.example", ASKED)
    (note,) = await desk.store.scan("ledger-erased:")
    _ = await desk.store.commit([Put(note.key, note.value[:-3])])
    done, left_out = await desk.privacy.erase_again(await desk.privacy.erasures(desk.store))
    assert (done, [note.key in str(error) for error in left_out]) == (0, [True])
