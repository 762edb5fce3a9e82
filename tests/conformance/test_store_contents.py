"""What a store holds goes row for row from any engine to any other, and takes the place of another store."""

import asyncio
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from orrery.adapters.postgres.place import PostgresDatabase
from orrery.app.store_place import back_up, put_in_place
from orrery.errors import Invalid, OutcomeUnknown, StoreMissing, StoreUnavailable
from orrery.ports.store import (
    Committed,
    Conflict,
    Delete,
    Put,
    StoreContents,
    StoredCommit,
    StoredRow,
    StorePlace,
    Unchanged,
)
from tests.support.clock import ManualClock
from tests.support.postgres import Server
from tests.support.stores import Places, keys_of, put

ROWS = 2500
"""More than two pages."""


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
async def test_row_for_row(places: Places, clock: ManualClock, source: str, target: str, tmp_path: Path) -> None:
    """Rows, expired ones too, and commits are equal, by a snapshot too; an id is known there, versions go on."""
    here, there = places(source), places(target)
    await fill(here, clock)
    there.create()
    with here.reading() as contents:
        there.load(contents)
    assert contents_of(there) == contents_of(here)
    assert len(contents_of(here)[0]) == ROWS + 3
    back_up(here, tmp_path / "snapshot")
    restored = places(target)
    put_in_place(tmp_path / "snapshot", restored)
    assert contents_of(restored)[:2] == contents_of(here)[:2]
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


def one_row() -> StoreContents:
    """Return what another store held."""
    return StoreContents(iter([StoredRow(b"saved", b"1", 7, None)]), iter([StoredCommit(b"named", 7, 0)]), 9)


async def keys_in(place: StorePlace) -> list[str]:
    """Return the keys of a store."""
    store = await place.open()
    try:
        return await keys_of(store)
    finally:
        await store.close()


async def written(place: StorePlace, key: str) -> int:
    """Write a key; return its version."""
    store = await place.open()
    try:
        return await put(store, key)
    finally:
        await store.close()


@pytest.mark.parametrize("engine", ENGINES)
async def test_replaced(places: Places, clock: ManualClock, engine: str) -> None:
    """Only the new rows are there, versions count on beyond all, no old check holds, and the old store is kept."""
    place = places(engine)
    place.create()
    clock.advance(1_000_000)
    place.replace(one_row())  # versions of a time that is ahead
    clock.advance(-1_000_000)
    forget(place)
    stale = await written(place, "before")
    assert place.last_version(stale) == stale
    assert place.last_version(stale + 1) is None
    with pytest.raises(Invalid, match="changed while it was restored"):
        place.replace(one_row(), read_at=stale - 1)
    place.replace(one_row(), read_at=stale)
    assert await keys_in(place) == ["saved"]
    store = await place.open()
    assert await store.commit([Put("x", b"")], [Unchanged("before", stale)]) == Conflict(("before",))
    assert await put(store, "y") > stale
    await store.close()
    assert len(place.remains()) == 1
    with pytest.raises(Invalid, match=r"an earlier restore (is|are) still there"):
        place.replace(one_row())
    assert await keys_in(place) == ["saved", "y"]


def forget(place: StorePlace) -> None:
    """Remove what a restore has kept."""
    if isinstance(place, PostgresDatabase):
        with psycopg.connect(place.connection_string) as connection:
            (kept,) = place.remains()
            connection.execute(kept.split("`")[1].encode())
    else:
        Path(place.remains()[0]).unlink()


async def test_the_wrong_snapshot(places: Places) -> None:
    """What the how-to has to type brings back the store of before, whose versions go on."""
    place = places("postgres")
    assert isinstance(place, PostgresDatabase)
    place.create()
    before = await written(place, "before")
    place.replace(one_row())
    with psycopg.connect(place.connection_string, autocommit=True) as connection:
        connection.execute(_HOW_TO.read_text().partition("```sql\n")[2].partition("```")[0].encode())
    assert (await keys_in(place), place.remains()) == (["before"], [])
    assert await written(place, "after") > before
    place.replace(one_row())
    assert await keys_in(place) == ["saved"]


_HOW_TO = Path(__file__).parents[2] / "docs/how-to/back-up-and-restore.md"


@pytest.mark.parametrize("engine", ENGINES)
async def test_in_the_place_of_none(places: Places, clock: ManualClock, engine: str) -> None:
    """Where there is no store, one is made that counts on from the time; a restore leaves nothing then."""
    place = places(engine)
    assert place.last_version(0) is None
    place.replace(one_row())
    assert (await keys_in(place), place.remains()) == (["saved"], [])
    assert place.last_version(int(clock.now().timestamp()) << 20) is not None


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_store_in_use_is_not_replaced(places: Places, engine: str) -> None:
    """It is refused in one sentence; a snapshot that is read meanwhile does not count less than a service."""
    place = places(engine)
    place.create()
    await written(place, "before")
    with place.reading(), pytest.raises(Invalid, match="in use: stop the service"):
        await asyncio.to_thread(place.replace, one_row())
    assert await keys_in(place) == ["before"]


async def test_a_process_that_lost_its_connections_is_refused_afterwards(places: Places) -> None:
    """It was not seen, since nothing of it was connected: it writes nothing into the store that came back."""
    place = places("postgres")
    assert isinstance(place, PostgresDatabase)
    place.create()
    store = await place.open()
    await put(store, "early")
    with psycopg.connect(place.connection_string, autocommit=True) as connection:
        ended = connection.execute(_END_SHARERS).fetchall()
    assert ended == [(True,)] * 2
    place.replace(one_row())
    with pytest.raises(OutcomeUnknown):
        await store.commit([Put("late", b"")], commit_id="late")
    with pytest.raises(StoreUnavailable, match="restored while it was in use: restart"):
        await store.commit([Put("late", b"")], commit_id="late")
    await store.close()
    assert await keys_in(place) == ["saved"]


_END_SHARERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
WHERE locktype = 'advisory' AND objid = 'orrery_store'::regclass::oid
"""


def test_tables_of_another_program_are_left_alone(places: Places) -> None:
    """A database that is no store's, and one of a later release, are not replaced."""
    place = places("postgres")
    assert isinstance(place, PostgresDatabase)
    with psycopg.connect(place.connection_string, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs ()")
        with pytest.raises(Invalid, match="tables of another program"):
            place.replace(one_row())
        connection.execute("DROP TABLE theirs")
        place.create()
        connection.execute("UPDATE orrery_store SET schema = 99")
    with pytest.raises(StoreUnavailable, match="schema version 99"):
        place.last_version(0)
    with pytest.raises(StoreUnavailable, match="schema version 99"):
        place.replace(one_row())


def test_a_role_without_rights(places: Places, postgres: Server) -> None:
    """The owner of the tables needs no more than they are; others learn in a sentence what they may not."""
    place = places("postgres")
    assert isinstance(place, PostgresDatabase)
    schema = place.connection_string.rpartition("search_path=")[2].rstrip("'")
    with postgres.connected() as connection:
        for statement in _ROLES.format(schema=schema).split(";"):
            connection.execute(statement.encode())
    owner, writer = (
        PostgresDatabase(make_conninfo(place.connection_string, user=f"{schema}_{role}"), place.clock)
        for role in ("owner", "writer")
    )
    owner.create()
    with psycopg.connect(owner.connection_string, autocommit=True) as connection:
        connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {schema}_writer".encode())
        connection.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {schema}_writer".encode())
    owner.replace(one_row())
    assert len(owner.remains()) == 1
    forget(owner)
    assert isinstance(asyncio.run(committed(writer)), Committed)  # into tables that are new
    with pytest.raises(StoreUnavailable, match="does not own the store's tables"):
        writer.replace(one_row())
    assert asyncio.run(scrubbed(owner))
    assert not asyncio.run(scrubbed(writer))
    assert ["VACUUM" in str(writer.beyond_scrub(is_scrubbed=one)) for one in (False, True)] == [True, False]


_ROLES = """
CREATE ROLE {schema}_owner LOGIN;
CREATE ROLE {schema}_writer LOGIN;
ALTER SCHEMA {schema} OWNER TO {schema}_owner;
GRANT USAGE ON SCHEMA {schema} TO {schema}_writer
"""


async def committed(place: StorePlace) -> Committed | Conflict:
    """Return what a commit answers."""
    store = await place.open()
    try:
        return await store.commit([Put("sold", b"")])
    finally:
        await store.close()


async def scrubbed(place: StorePlace) -> bool:
    """Return what a scrub answers."""
    store = await place.open()
    try:
        return await store.scrub()
    finally:
        await store.close()
