"""The snapshot of a store in a database, and its restore, when either is killed (`kill -9`) or has no room."""

import asyncio
import os
from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import LiteralString

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite import reading_snapshot
from orrery.app.store_place import back_up, put_in_place
from orrery.errors import StoreUnavailable
from orrery.ports.store import StoreContents, StoredCommit, StoredRow
from tests.crash.workers import working
from tests.journeys.disks import small
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.waiting import eventually

ROWS = 1500
"""More than a page of them."""

WORKER = "crash.snapshot_worker"
POINTS = (0, ROWS // 2, ROWS)
Held = tuple[list[StoredRow], list[StoredCommit]]


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    """Yield a server; each test has a schema of its own."""
    skip_without_postgres()
    with running_postgres() as server:
        yield server


@pytest.fixture
def place(server: Server) -> PostgresDatabase:
    """Return a store with rows in it."""
    place = PostgresDatabase(server.address(server.new_schema()), SystemClock())
    place.create()
    place.load(contents_of("saved"))
    return place


def contents_of(value: str) -> StoreContents:
    """Return rows with a value."""
    rows = (StoredRow(b"%06d" % number, value.encode(), number + 1, None) for number in range(ROWS))
    return StoreContents(rows, iter([StoredCommit(b"an id", ROWS, 0)]), ROWS)


def held(place: PostgresDatabase) -> Held:
    """Return what is in a store."""
    with place.reading() as contents:
        return list(contents.rows), list(contents.commits)


def went_on(place: PostgresDatabase, snapshot: Path) -> tuple[Held, Held]:
    """Save a store, and change it; return what was saved, and what is there now."""
    back_up(place, snapshot)
    saved = held(place)
    place.load(StoreContents(iter([StoredRow(b"later", b"", ROWS + 1, None)]), iter(()), ROWS + 1))
    return saved, held(place)


@pytest.mark.parametrize("rows", POINTS)
def test_a_killed_backup_leaves_none(place: PostgresDatabase, tmp_path: Path, rows: int) -> None:
    """No half snapshot has the name of one; the next backup removes what is left, and is whole."""
    snapshot = tmp_path / "snapshot.db"
    with working(WORKER, "backup", place.connection_string, snapshot, str(rows)) as worker:
        assert worker.line() == "there"
        worker.kill()
    assert not snapshot.exists()
    before, _ = went_on(place, snapshot)
    assert [one.name for one in tmp_path.iterdir()] == [snapshot.name]
    assert len(before[0]) == ROWS


@pytest.mark.parametrize("rows", POINTS)
def test_a_killed_restore_leaves_the_old_store(place: PostgresDatabase, tmp_path: Path, rows: int) -> None:
    """Until it commits, all of before is in its place; the next restore is whole."""
    snapshot = tmp_path / "snapshot.db"
    saved, before = went_on(place, snapshot)
    with working(WORKER, "restore", place.connection_string, snapshot, str(rows)) as worker:
        assert worker.line() == "there"
        worker.kill()
    eventually(lambda: expect(held(place), before))
    assert place.remains() == []
    put_in_place(snapshot, place)
    assert held(place) == saved


def expect(found: object, wanted: object) -> None:
    """Fail unless they are equal."""
    assert found == wanted


def test_killed_while_it_commits(server: Server, place: PostgresDatabase, tmp_path: Path) -> None:
    """The database finishes the commit, which waits for a standby: the store is new, and the old one is kept."""
    snapshot = tmp_path / "snapshot.db"
    saved, _ = went_on(place, snapshot)
    try:
        with working(WORKER, "restore", place.connection_string, snapshot, "0") as worker:
            assert worker.line() == "there"
            server.lose_its_standby()
            worker.go()
            eventually(lambda: await_standby(server))
            worker.kill()
    finally:
        server.wait_for_none()
    eventually(lambda: expect(held(place), saved))
    assert len(place.remains()) == 1


def await_standby(server: Server) -> None:
    """Fail unless a commit waits for its standby."""
    with server.connected() as connection:
        waiting = connection.execute(f"SELECT count(*) {_WAITING}").fetchone()
    assert waiting == (1,)


_WAITING: LiteralString = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'"
"""Autovacuum may wait, too."""


def test_a_wait_that_was_ended_is_no_success(server: Server, place: PostgresDatabase, tmp_path: Path) -> None:
    """The owner learns that it may not be on the standby, and how to find out whether it was done."""
    snapshot = tmp_path / "snapshot.db"
    went_on(place, snapshot)

    def standby_lost() -> Iterator[StoredRow]:
        server.lose_its_standby()
        yield from ()

    def restore() -> None:
        with reading_snapshot(snapshot) as found:
            place.replace(replace(found, rows=chain(found.rows, standby_lost())))

    async def ended() -> None:
        restoring = asyncio.create_task(asyncio.to_thread(restore))
        try:
            await asyncio.to_thread(eventually, lambda: await_standby(server))
            with server.connected() as connection:
                connection.execute(f"SELECT pg_cancel_backend(pid) {_WAITING}")
        except AssertionError:
            server.wait_for_none()  # else the thread would wait for ever, and the run for the thread
            raise
        await restoring

    try:
        with pytest.raises(StoreUnavailable, match=r"Whether the store was replaced is not known: restore again"):
            asyncio.run(ended())
    finally:
        server.wait_for_none()


def test_a_backup_that_waits_for_a_restore_saves_what_came_back(
    server: Server, place: PostgresDatabase, tmp_path: Path
) -> None:
    """It begins when the restore has ended, and not with a view of the database from before."""
    snapshot = tmp_path / "snapshot.db"
    saved, _ = went_on(place, snapshot)

    async def both() -> None:
        with working(WORKER, "restore", place.connection_string, snapshot, str(ROWS)) as worker:
            assert worker.line() == "there"
            saving = asyncio.create_task(asyncio.to_thread(back_up, place, tmp_path / "later.db"))
            await asyncio.to_thread(eventually, lambda: await_hold(server))
            worker.go()
            await saving

    asyncio.run(both())
    with reading_snapshot(tmp_path / "later.db") as contents:
        assert (list(contents.rows), list(contents.commits)) == saved


def await_hold(server: Server) -> None:
    """Fail unless a command waits for another."""
    with server.connected() as connection:
        waiting = connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        assert waiting.fetchone() == (1,)


def test_without_room(server: Server, place: PostgresDatabase, tmp_path: Path) -> None:
    """A full disk, of the snapshot or of the database, is a sentence; there is no snapshot, and the old store."""
    snapshot, disk = tmp_path / "snapshot.db", server.folder.parent / "disk"
    place.load(StoreContents(iter([StoredRow(b"large", os.urandom(3_000_000), ROWS + 1, None)]), iter(()), 0))
    before = held(place)
    back_up(place, snapshot)
    disk.mkdir()
    with small(disk):
        with pytest.raises(StoreUnavailable, match="the disk is full: make room"):
            back_up(place, disk / "snapshot.db")
        assert list(disk.iterdir()) == []
        os.chown(disk, server.folder.stat().st_uid, -1)
        with server.connected() as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{disk}'".encode())
            there = make_conninfo(
                place.connection_string, options=f"{options_of(place)} -c default_tablespace=small"
            )
            with pytest.raises(StoreUnavailable, match="its disk is full: make room"):
                put_in_place(snapshot, PostgresDatabase(there, SystemClock()))
            connection.execute("DROP TABLESPACE small")
    assert held(place) == before


def options_of(place: PostgresDatabase) -> str:
    """Return the options of a connection, which name the schema."""
    return str(conninfo_to_dict(place.connection_string)["options"])


def test_the_first_restore_after_a_failover(server: Server, place: PostgresDatabase, tmp_path: Path) -> None:
    """The versions count on before they are compared, so that it is not taken for a change of the store."""
    snapshot = tmp_path / "snapshot.db"
    saved, _ = went_on(place, snapshot)
    with server.connected() as connection:
        schema = options_of(place).rpartition("search_path=")[2]
        connection.execute(f"UPDATE {schema}.orrery_store SET timeline = '00000000:1'".encode())  # noqa: S608  a name of ours
    read_at = place.last_version(0)
    asyncio.run(opened_once(place))
    put_in_place(snapshot, place, read_at=read_at)
    assert held(place) == saved


async def opened_once(place: PostgresDatabase) -> None:
    """Open the store, as a restore does to read the messages in it."""
    store = await place.open()
    await store.close()


def test_a_killed_trial_leaves_no_schema(server: Server, place: PostgresDatabase) -> None:
    """The next one drops it, and not that of one which is at work."""
    with working(WORKER, "scratch", server.address(), Path("none"), "0") as worker:
        assert worker.line() == "there"
        with PostgresDatabase(server.address(), place.clock).scratch():
            assert scratch_schemas(server) == 2
        worker.kill()
    eventually(lambda: expect_one_scratch(server))


def expect_one_scratch(server: Server) -> None:
    """Fail unless a new trial is the only one."""
    with PostgresDatabase(server.address(), SystemClock()).scratch():
        assert scratch_schemas(server) == 1


def scratch_schemas(server: Server) -> int:
    """Return how many schemas of trials there are."""
    with server.connected() as connection:
        found = connection.execute("SELECT FROM pg_namespace WHERE starts_with(nspname, 'orrery_scratch_')")
        return len(found.fetchall())
