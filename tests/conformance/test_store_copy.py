"""A store goes from any engine to any other: whole, after any kill, and never sold on at both."""

import asyncio
from datetime import timedelta
from functools import partial
from itertools import islice, product
from pathlib import Path

import pytest

from orrery.app.store_copy import copied, digest, undone
from orrery.errors import Invalid, StoreMissing, StoreUnavailable
from orrery.ports.store import Committed, Delete, Put, StoreContents, StoredRow, StorePlace
from tests.support.clock import ManualClock
from tests.support.soak import SOAKING
from tests.support.stores import Places

ENGINES = ("sqlite", "postgres")
ROWS, PAGE = 30, 10
STEPS = 8
"""The target is there, the source closed, four pages and the commits in the target, the target open."""


async def fill(place: StorePlace, clock: ManualClock) -> StoreContents:
    """Make a store with entries that were written twice, deleted, and have expired, and return what it holds."""
    await asyncio.to_thread(place.create)
    store = await place.open()
    for number in range(ROWS):
        await store.commit([Put(f"many:{number:05}", b"v" * number)], commit_id=f"id-{number}")
    await store.commit([Delete("many:00001"), Put("many:00000", b"again"), Put("a\x00ü", b"\x00\xff")])
    await store.commit([Put("short", b"", timedelta(seconds=60))])
    await store.close()
    clock.advance(61)
    return held(place)


def held(place: StorePlace) -> StoreContents:
    """Return all that a store holds, closed or not, in lists."""
    with place.reading(may_be_closed=True) as contents:
        return StoreContents(iter([*contents.rows]), iter([*contents.commits]), contents.last_version)


TRIED = range(1, STEPS + 1) if SOAKING else (1, 5, 8)
"""After which steps a copy is ended: of the pages, `./run soak kills` ends it after each."""


DIRECTIONS = list(product(ENGINES, ENGINES))
BETWEEN = [("sqlite", "postgres"), ("postgres", "sqlite")]


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
async def test_all_is_there_and_goes_on(places: Places, clock: ManualClock, source: str, target: str) -> None:
    """Entries keep their versions, ids are known, new versions are beyond, and the source is closed."""
    here, there = places(source), places(target)
    before, kept = await fill(here, clock), digest(here)
    steps = await asyncio.to_thread(list, copied(here, there, PAGE))
    assert set(steps) == {None, len(steps)}
    assert digest(there) == kept
    store = await there.open()
    known = await store.commit([Put("other", b"")], commit_id="id-7")
    assert known == Committed(next(one.version for one in before.commits if one.id == b"id-7"))
    new = await store.commit([Put("new", b"")])
    await store.close()
    assert isinstance(new, Committed)
    assert new.version > before.last_version
    with pytest.raises((StoreMissing, StoreUnavailable), match="moved"):
        await here.open()


@pytest.mark.parametrize(("source", "target"), BETWEEN)
async def test_ended_after_each_step(places: Places, clock: ManualClock, source: str, target: str) -> None:
    """The same again goes on from there. Until then at most one of both may be opened, and never a part."""
    for steps in TRIED:
        here, there = places(source), places(target)
        await fill(here, clock)
        kept = digest(here)
        await asyncio.to_thread(begin, here, there, steps)
        assert (await opens(here), await opens(there)) == (steps == 1, steps == STEPS)
        await asyncio.to_thread(list, copied(here, there, PAGE))
        assert digest(there) == kept
        assert (await opens(here), await opens(there)) == (False, True)


@pytest.mark.parametrize(("source", "target"), BETWEEN)
async def test_taken_back_after_each_step(places: Places, clock: ManualClock, source: str, target: str) -> None:
    """Until the target is open: the source is what it was, and another copy may be begun."""
    here, there = places(source), places(target)
    await fill(here, clock)
    for steps in TRIED[:-1]:
        kept = digest(here)
        await asyncio.to_thread(begin, here, there, steps)
        await asyncio.to_thread(undone, here, there)
        assert digest(here) == kept
        assert (await opens(here), await opens(there)) == (True, False)
        await asyncio.to_thread(undone, here, there)
    await asyncio.to_thread(list, copied(here, there, PAGE))
    with pytest.raises((Invalid, StoreMissing)):
        await asyncio.to_thread(undone, here, there)
    assert await opens(there)


def begin(source: StorePlace, target: StorePlace, steps: int) -> None:
    """Copy until so many steps are done."""
    assert len(list(islice(copied(source, target, PAGE), steps))) == steps


async def opens(place: StorePlace) -> bool:
    """Return whether a process can open the store."""
    try:
        store = await place.open()
    except (StoreMissing, StoreUnavailable):
        return False
    await store.close()
    return True


@pytest.mark.parametrize("target", ENGINES)
async def test_what_is_no_copy_of_this_store(places: Places, clock: ManualClock, target: str) -> None:
    """A target with another store, or with a part of another, is refused, and the source stays open."""
    here, full, other, there = places("sqlite"), places(target), places("sqlite"), places(target)
    for place in (here, full, other):
        await fill(place, clock)
    await asyncio.to_thread(begin, other, there, 3)
    for taken, why in ((full, "is not empty"), (there, "is not yet a whole copy"), (here, "Name two places")):
        with pytest.raises(Invalid, match=why):
            await asyncio.to_thread(next, copied(here, taken))
        with pytest.raises(Invalid):
            await asyncio.to_thread(undone, here, taken)
    with pytest.raises(Invalid, match=f"is closed: it was moved to {there}"):
        await asyncio.to_thread(next, copied(other, places(target)))
    assert await opens(here)
    assert await opens(full)


async def test_a_file_in_use(places: Places, clock: ManualClock) -> None:
    """It is not copied, and its service goes on."""
    here, there = places("sqlite"), places("sqlite")
    await fill(here, clock)
    store = await here.open()
    with pytest.raises(Invalid, match="is in use: stop the service"):
        await asyncio.to_thread(list, copied(here, there))
    assert isinstance(await store.commit([Put("on", b"")]), Committed)
    await store.close()


async def test_a_closed_file(places: Places, clock: ManualClock, tmp_path: Path) -> None:
    """No release takes it for a store, not one that knows no closed ones either; no snapshot replaces it."""
    here, there = places("sqlite"), places("sqlite")
    await fill(here, clock)
    assert (tmp_path / "0.db").read_bytes()[68:72] == b"Orry"
    await asyncio.to_thread(begin, here, there, 2)
    assert (tmp_path / "0.db").read_bytes()[68:72] != b"Orry"
    for refused in (here.reading().__enter__, partial(here.replace, StoreContents(iter(()), iter(()), 0))):
        with pytest.raises((Invalid, StoreUnavailable), match="is closed: it was moved to"):
            await asyncio.to_thread(refused)


async def test_a_moved_file_whose_new_place_was_lost(places: Places, clock: ManualClock, tmp_path: Path) -> None:
    """It is opened again under its name, once it is sure that no store is at the other place."""
    here, there = places("sqlite"), places("postgres")
    await fill(here, clock)
    await asyncio.to_thread(list, copied(here, there))
    (tmp_path / "0.db.moved").rename(tmp_path / "0.db")
    with pytest.raises(Invalid, match="is no unfinished copy"):
        await asyncio.to_thread(undone, here, there)
    await asyncio.to_thread(there.close, "lost")
    await asyncio.to_thread(there.remove)
    await asyncio.to_thread(undone, here, there)
    assert await opens(here)


async def test_a_database_in_use(places: Places, clock: ManualClock) -> None:
    """Its service is refused each commit from then on, and learns where the store is."""
    here, there = places("postgres"), places("postgres")
    await fill(here, clock)
    store = await here.open()
    await store.commit([Put("on", b"")])
    await asyncio.to_thread(list, copied(here, there))
    with pytest.raises(StoreUnavailable, match=f"is closed: it was moved to {there}"):
        await store.commit([Put("late", b"")])
    await store.close()
    kept = await there.open()
    assert await kept.get("on") is not None
    assert await kept.get("late") is None
    await kept.close()


async def test_a_part_that_was_changed(places: Places, clock: ManualClock) -> None:
    """The target is not opened, and the owner reads what to type."""
    here, there = places("sqlite"), places("sqlite")
    await fill(here, clock)
    await asyncio.to_thread(begin, here, there, 3)
    foreign = StoreContents(iter([StoredRow(b"a", b"", 1, None)]), iter(()), 0)
    await asyncio.to_thread(partial(there.load, foreign, may_be_closed=True))
    with pytest.raises(StoreUnavailable, match=r"differs .* type the same again to go on, or with --undo"):
        await asyncio.to_thread(list, copied(here, there, PAGE))
    assert not await opens(there)
    await asyncio.to_thread(undone, here, there)
    assert await opens(here)
