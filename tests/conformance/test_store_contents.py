"""What a store holds goes row for row from any engine to any other."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite.place import SqliteFile
from orrery.errors import Invalid, StoreMissing
from orrery.ports.store import Committed, Delete, Put, StoreContents, StoredCommit, StoredRow, StorePlace
from tests.support.clock import ManualClock
from tests.support.stores import put

ROWS = 2500
"""More than two pages."""

Places = Callable[[str], StorePlace]


@pytest.fixture
def places(tmp_path: Path, clock: ManualClock, request: pytest.FixtureRequest) -> Places:
    """Return what gives a new place of an engine."""
    numbers = count()

    def new(engine: str) -> StorePlace:
        if engine == "postgres":
            server = request.getfixturevalue("postgres")
            return PostgresDatabase(server.address(server.new_schema()), clock)
        return SqliteFile(tmp_path / f"{next(numbers)}.db", clock)

    return new


ENGINES = ["sqlite", "postgres"]


def contents_of(place: StorePlace, after: bytes = b"") -> tuple[list[StoredRow], list[StoredCommit], int]:
    """Return all that a store holds."""
    with place.reading(after) as contents:
        return list(contents.rows), list(contents.commits), contents.last_version


async def fill(place: StorePlace, clock: ManualClock) -> None:
    """Make a store with keys and values of every kind: long, with a NUL, expired, deleted, written twice."""
    place.create()
    store = await place.open()
    await store.commit([Put(f"many:{number:05}", b"v" * number) for number in range(ROWS)])
    await store.commit([Put("a\x00b", b"\x00\xff"), Put("ü\U0010ffff", b""), Put("gone", b"")], commit_id="named")
    await put(store, "short", ttl=timedelta(seconds=60))
    await store.commit([Delete("gone"), Put("many:00000", b"again")])
    await store.close()
    clock.advance(61)


@pytest.mark.parametrize("source", ENGINES)
@pytest.mark.parametrize("target", ENGINES)
async def test_row_for_row(places: Places, clock: ManualClock, source: str, target: str) -> None:
    """Rows, expired ones too, and commits are equal; an id is still known there, and versions go on."""
    here, there = places(source), places(target)
    await fill(here, clock)
    there.create()
    with here.reading() as contents:
        there.load(contents)
    assert contents_of(there) == contents_of(here)
    assert len(contents_of(here)[0]) == ROWS + 3
    store = await there.open()
    before = contents_of(here)[2]
    assert await store.commit([Put("x", b"")], commit_id="named") == Committed(before - 2)
    assert await put(store, "y") > before
    await store.close()


@pytest.mark.parametrize("source", ENGINES)
async def test_in_parts(places: Places, clock: ManualClock, source: str) -> None:
    """A target that has the first keys takes the others, by the greatest that it has."""
    here, there = places(source), places("sqlite")
    await fill(here, clock)
    there.create()
    with here.reading() as contents:
        first = (next(contents.rows) for _ in range(ROWS // 2))
        there.load(StoreContents(first, iter(()), 0))
    greatest = contents_of(there)[0][-1]
    with here.reading(greatest.key) as contents:
        there.load(contents)
    assert contents_of(there) == contents_of(here)


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_store_in_use_takes_nothing(places: Places, clock: ManualClock, engine: str) -> None:
    """It is not loaded into while a process has it open; what reads it meanwhile sees one moment of it."""
    place = places(engine)
    await fill(place, clock)
    store = await place.open()
    with place.reading() as contents:
        await put(store, "zz")
        keys = [row.key for row in contents.rows]
        with pytest.raises(Invalid, match="in use: stop the service"):
            await asyncio.to_thread(place.load, StoreContents(iter(()), iter(()), 0))
    await store.close()
    assert b"zz" not in keys


@pytest.mark.parametrize("engine", ENGINES)
def test_without_a_store(places: Places, engine: str) -> None:
    """Nothing is read, and nothing is made."""
    place = places(engine)
    with pytest.raises(StoreMissing), place.reading():
        pass
    with pytest.raises(StoreMissing):
        place.load(StoreContents(iter(()), iter(()), 0))
