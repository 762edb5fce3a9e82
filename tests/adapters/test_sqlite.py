"""What is particular to the SQLite store: the file, its damage, and callers that share a transaction."""

import asyncio
import os
from collections.abc import Generator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from stat import S_IMODE
from typing import cast

import pytest
from anyio import Path as AsyncPath

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.adapters.sqlite.database import Value, connect
from orrery.adapters.sqlite.file import BUSY_TIMEOUT, StoreFile
from orrery.errors import OutcomeUnknown, StoreUnavailable
from orrery.ports.store import Committed, Delete, Put
from tests.support.clock import ManualClock
from tests.support.store_worker import Opened
from tests.support.stores import new_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store goes."""
    return tmp_path / "data" / "store.db"


@pytest.fixture
def open_umask() -> Generator[None, None, None]:
    """Let files be as readable as their maker asks."""
    before = os.umask(0)
    yield
    os.umask(before)


def ask(path: Path, question: str) -> Value:
    """Return the one value that the file at `path` answers."""
    with closing(connect(path, BUSY_TIMEOUT)) as database:
        return database.execute(question).get


def tell(path: Path, statements: str) -> None:
    """Run `statements` on the file at `path`."""
    with closing(connect(path, BUSY_TIMEOUT)) as database:
        database.execute(statements).fetchall()


async def made(path: Path) -> None:
    """Make a store with one entry, and close it."""
    async with Opened(path) as store:
        await store.commit([Put("a", b"1")])


@pytest.mark.usefixtures("open_umask")
async def test_the_files_are_private(path: Path) -> None:
    """The directory that is made is 0700 and every file in it 0600, whatever the umask."""
    async with Opened(path) as store:
        await store.commit([Put("a", b"")])
        modes = {
            found.name: S_IMODE((await found.stat()).st_mode) async for found in AsyncPath(path.parent).iterdir()
        }
    assert modes == dict.fromkeys(["store.db", "store.db-wal", "store.db-shm", "store.db.lock"], 0o600)
    assert S_IMODE((await AsyncPath(path.parent).stat()).st_mode) == 0o700


async def test_commits_wait_for_the_disk(path: Path) -> None:
    """Connections are in WAL mode and fully synchronous."""
    create(path)
    file = StoreFile(path)
    with closing(file), closing(file.connect(BUSY_TIMEOUT)) as database:
        assert database.pragma("journal_mode") == "wal"
        assert database.pragma("synchronous") == 2


async def test_a_store_opens_again_with_what_it_had(path: Path) -> None:
    """Entries, and the count of versions, outlive the process's use of the file."""
    await made(path)
    async with Opened(path) as store:
        assert await store.get("a") is not None
        assert await store.commit([Delete("a")]) == Committed(2)
    async with Opened(path) as store:
        assert await store.commit([Put("a", b"")]) == Committed(3)


async def test_two_openings_see_each_other(path: Path) -> None:
    """What one opening of a file has committed, another reads at once."""
    async with Opened(path) as one, Opened(path) as other:
        for number in range(20):
            await one.commit([Put(f"{number:02}", b"")])
            assert await other.get(f"{number:02}") is not None
        assert await other.commit([Put("x", b"")]) == Committed(21)


async def test_one_bad_commit_spares_its_neighbours(path: Path) -> None:
    """A commit that cannot be done fails alone, though it shared a transaction with others."""
    async with Opened(path) as store:
        bad = Put("bad", cast("bytes", object()))
        puts = [Put("first", b""), Put("a", b""), bad, Put("b", b""), Put("c", b"")]
        outcomes = await asyncio.gather(*(store.commit([put]) for put in puts), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [Committed, Committed, TypeError, Committed, Committed]
        assert [entry.key for entry in await store.scan("")] == ["a", "b", "c", "first"]
        versions = {entry.version for entry in await store.scan("")}
        assert len(versions) == 4


async def test_what_expired_leaves_the_file(path: Path) -> None:
    """Expired entries and old commit ids are swept out by later commits, a bounded number at a time."""
    clock = ManualClock()
    store = await new_store(path, clock)
    for number in range(30):
        await store.commit([Put(f"{number}:{n}", b"", timedelta(seconds=60)) for n in range(10)])
    clock.advance(24 * 60 * 60 + 1)
    await store.commit([Put("later", b"")])
    assert ask(path, "SELECT count(*) FROM entries") == 201
    for _ in range(30):
        await store.commit([Put("later", b"")])
    assert ask(path, "SELECT count(*) FROM entries") == 1
    assert ask(path, "SELECT count(*) FROM commits WHERE version <= 30") == 0
    await store.close()


async def test_what_was_erased_is_not_in_the_file(path: Path) -> None:
    """After a delete and a close no byte of the value is left in the file."""
    secret = b"erase-me-" * 1000
    async with Opened(path) as store:
        await store.commit([Put("a", secret), Put("b", b"kept")])
        await store.commit([Delete("a")])
    content = await AsyncPath(path).read_bytes()
    assert b"kept" in content
    assert b"erase-me" not in content


async def test_what_was_scrubbed_is_in_no_file_while_the_store_is_used(path: Path) -> None:
    """After a delete and a scrub no byte of the value is left in file and log, though another has them open."""
    secret = b"erase-me-" * 1000
    async with Opened(path) as store, Opened(path) as service:
        await service.commit([Put("a", secret), Put("b", b"kept")])
        await store.commit([Delete("a")])
        log = AsyncPath(f"{path}-wal")
        assert b"erase-me" in await log.read_bytes()
        assert await store.scrub()
        assert b"erase-me" not in await log.read_bytes() + await AsyncPath(path).read_bytes()
        assert isinstance(await service.commit([Put("c", b"later")]), Committed)
        assert [entry.key for entry in await service.scan("")] == ["b", "c"]


async def test_what_another_still_reads_is_not_scrubbed(path: Path) -> None:
    """A reader in the middle of its reading keeps the log, which is told, and disturbs nothing."""
    await made(path)
    store = await SqliteStore.open(path, SystemClock(), busy_timeout=timedelta(milliseconds=10))
    await store.commit([Put("a", b"1")])
    with closing(connect(path, BUSY_TIMEOUT)) as reader:
        reader.execute("BEGIN; SELECT count(*) FROM entries").fetchall()
        await store.commit([Delete("a")])
        assert not await store.scrub()
    assert await store.scrub()
    await store.close()


async def test_a_commit_onto_a_log_that_was_written_over_is_not_called_stored(path: Path) -> None:
    """SQLite would go on, and lose it with the last process; a repetition under the same id learns no more."""
    async with Opened(path) as store:
        await store.commit([Put("a", b"")])
        log = AsyncPath(path.with_name("store.db-wal"))
        before = await log.read_bytes()
        await overwrite(log, b"\xa5" * len(before))
        for _ in range(2):
            with pytest.raises(OutcomeUnknown, match=r"store\.db is damaged .* log was written over"):
                await store.commit([Put("b", b"")], commit_id="b")
        await overwrite(log, before)
        assert isinstance(await store.commit([Put("c", b"")]), Committed)


async def overwrite(file: AsyncPath, content: bytes) -> None:
    """Write `content` over the beginning of a file in use, and leave the rest of it."""
    async with await file.open("r+b") as opened:
        await opened.write(content)


async def test_damage_inside_is_told_when_it_is_met(path: Path) -> None:
    """Damaged pages give a sentence instead of wrong data, reading and writing, and keep every byte."""
    async with Opened(path) as store:
        await store.commit([Put(f"{n:04}", b"x" * 200) for n in range(1000)])
    file = AsyncPath(path)
    content = await file.read_bytes()
    damaged = content[:4096] + b"\xa5" * (len(content) - 4096)
    await file.write_bytes(damaged)
    async with Opened(path) as store:
        for attempt in (store.get("0500"), store.scan(""), store.commit([Put("a", b"")])):
            with pytest.raises(StoreUnavailable, match=r"store\.db is damaged"):
                await attempt
    assert await file.read_bytes() == damaged


async def test_a_place_where_no_file_can_be_is_told(tmp_path: Path) -> None:
    """A path through a file, or of a directory, gives a sentence."""
    blocker = AsyncPath(tmp_path / "blocker")
    await blocker.write_bytes(b"")
    with pytest.raises(StoreUnavailable, match=f"The store file {tmp_path.name} could not be"):
        await SqliteStore.open(tmp_path, SystemClock())
    with pytest.raises(StoreUnavailable, match=r"The store file store\.db could not be"):
        create(tmp_path / "blocker" / "store.db")


async def test_a_backup_put_in_place_by_hand_is_a_store(path: Path) -> None:
    """A file in another journal mode, as a snapshot is, is opened and made durable."""
    await made(path)
    tell(path, "PRAGMA journal_mode = delete")
    async with Opened(path) as store:
        assert await store.commit([Put("b", b"")]) == Committed(2)
    assert ask(path, "PRAGMA journal_mode") == "wal"


async def test_a_key_that_no_store_writes(path: Path) -> None:
    """The page of keys with it is an error, and no sign of a file that cannot be used: the rest is read."""
    await made(path)
    tell(path, "INSERT INTO entries VALUES (x'622d31ff', x'', 9, NULL)")
    async with Opened(path) as store:
        with pytest.raises(UnicodeDecodeError):
            await store.scan("b-")
        assert [one.key for one in await store.scan("a")] == ["a"]
