"""The SQLite store among real processes that race, are killed, and meet full, locked and damaged files."""

import asyncio
import errno
import random
import subprocess
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest
from anyio import Path as AsyncPath
from anyio.lowlevel import checkpoint

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.errors import StoreUnavailable
from orrery.ports.store import Absent, Committed, Put
from tests.crash.workers import Workers
from tests.support.soak import rounds
from tests.support.store_worker import CALLERS, PARTS, RACED_KEYS, Opened
from tests.support.stores import sets_in
from tests.support.waiting import PATIENCE

ROUNDS = rounds(4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store goes."""
    return tmp_path / "data" / "store.db"


@pytest.fixture
def workers() -> Generator[Workers, None, None]:
    """Yield the means to start processes, and end those that the test left."""
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path, None, None]:
    """Yield a directory on a disk of 2 MB, or skip where none may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk):
        pytest.skip("a full disk needs a small one, and mounting it needs root")
    yield disk
    assert run("umount", "--lazy", disk)


def run(*command: str | Path) -> bool:
    """Run a command, and tell whether it succeeded."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603  fixed commands


async def test_eight_racing_processes_win_each_key_once(path: Path, workers: Workers) -> None:
    """Eight processes put-if-absent the same 200 keys: every key has one winner, and holds the winner's value."""
    racers = {f"racer-{n}": workers.start("race", path, f"racer-{n}") for n in range(8)}
    for racer in racers.values():
        racer.await_ready()
    for racer in racers.values():
        racer.go()
    won = {name: racer.rest() for name, racer in racers.items()}
    async with Opened(path) as store:
        entries = await store.scan("raced:", limit=1000)
    assert sum(map(len, won.values())) == RACED_KEYS
    assert {entry.key: entry.value.decode() for entry in entries} == {
        key: name for name in won for key in won[name]
    }
    assert len({entry.version for entry in entries}) == RACED_KEYS


async def test_a_kill_in_mid_commit_loses_nothing_acknowledged(path: Path, workers: Workers) -> None:
    """After each `kill -9` the store opens, with all that was acknowledged, and every commit whole or absent."""
    acknowledged: set[str] = set()
    for number in range(ROUNDS):
        worker = workers.start("hammer", path, f"round-{number}")
        worker.await_ready()
        worker.go()
        acknowledged |= {worker.line() for _ in range(random.randint(5, 200))}  # noqa: S311  where to kill is no secret
        acknowledged |= set(worker.kill())
        async with Opened(path) as store:
            found = await sets_in(store)
            assert isinstance(await store.commit([Put(f"after:{number}", b"")]), Committed)
        assert acknowledged <= set(found)
        assert set(found.values()) == {len(PARTS)}
        assert len(found) - len(acknowledged) <= CALLERS * (number + 1)


async def test_a_full_disk_is_told_and_survived(small_disk: Path) -> None:
    """On a full disk commits raise one clear sentence, what was stored stays, and room makes it work again."""
    async with Opened(small_disk / "data" / "store.db") as store:
        first = await store.commit([Put("early", b"kept")])
        filler = small_disk / "filler"
        fill(filler)
        attempts = (store.commit([Put(f"late:{n}", b"x" * 100_000)]) for n in range(3))
        outcomes = await asyncio.gather(*attempts, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 3
        assert str(outcomes[0]) == (
            "The store file store.db could not grow, because the disk is full: "
            "make room, then try again (SQLITE_FULL)."
        )
        assert [entry.key for entry in await store.scan("")] == ["early"]
        filler.unlink()
        assert isinstance(await store.commit([Put("late", b"x" * 100_000)]), Committed)
        entry = await store.get("early")
    assert entry is not None
    assert Committed(entry.version) == first


def fill(path: Path) -> None:
    """Write to `path` until the disk is full."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017  the error is the way out of the loop


async def test_no_store_is_begun_on_a_full_disk(small_disk: Path) -> None:
    """Where there is no room for a new store, making it raises, leaves no half store, and works once there is."""
    filler, path = small_disk / "filler", small_disk / "data" / "store.db"
    fill(filler)
    with pytest.raises(StoreUnavailable, match=r"store\.db"):
        create(path)
    assert not path.exists()
    filler.unlink()
    async with Opened(path) as store:
        assert isinstance(await store.commit([Put("a", b"")]), Committed)


async def test_an_unknown_outcome_is_learned_by_repeating(path: Path, workers: Workers) -> None:
    """When writing the commit itself fails, `OutcomeUnknown` names an id, and repeating under it commits once."""
    worker = workers.start("cramped", path)
    worker.await_ready()
    worker.go()
    sentence, outcome = worker.rest()
    assert "repeat it with the same id" in sentence
    assert outcome == "Committed True"
    async with Opened(path) as store:
        entry = await store.get("large")
    assert entry is not None
    assert entry.value == b"x" * 50_000


async def test_a_process_that_may_open_no_more_files(path: Path, workers: Workers) -> None:
    """A commit is stored, and told so, when no handle is left to look at the log with."""
    worker = workers.start("without_handles", path)
    worker.await_ready()
    worker.go()
    assert worker.rest() == ["Committed"]
    async with Opened(path) as store:
        assert await store.get("second") is not None


async def test_a_locked_file_is_told_after_the_timeout(path: Path, workers: Workers) -> None:
    """While another program holds the lock, commits raise and reads go on; afterwards commits work."""
    create(path)
    store = await SqliteStore.open(path, SystemClock(), busy_timeout=timedelta(milliseconds=200))
    await store.commit([Put("a", b"")])
    holder = workers.start("lock", path)
    holder.await_ready()
    with pytest.raises(StoreUnavailable, match=r"store\.db is locked by another process for too long: see"):
        await store.commit([Put("b", b"")], [Absent("b")])
    assert await store.get("a") is not None
    holder.go()
    assert holder.rest() == ["released"]
    assert isinstance(await store.commit([Put("b", b"")], [Absent("b")]), Committed)
    await store.close()


async def test_a_read_that_waits_holds_up_nothing_else(path: Path, workers: Workers) -> None:
    """While another program holds the log's index, a read waits for it, and the event loop goes on."""
    async with Opened(path) as store:
        await store.commit([Put("a", b"")])
        holder = workers.start("lock_index", path)
        holder.await_ready()
        waiting = asyncio.ensure_future(store.get("a"))
        for _ in range(100):
            await checkpoint()
        assert not waiting.done()
        holder.go()
        assert holder.rest() == ["released"]
        assert await waiting is not None


async def test_a_file_held_by_another_alone_cannot_be_opened(path: Path, workers: Workers) -> None:
    """A program that holds the whole file gives one sentence, soon, and an opening works once it lets go."""
    async with Opened(path) as store:
        await store.commit([Put("a", b"")])
    holder = workers.start("lock", path, "alone")
    holder.await_ready()
    with pytest.raises(StoreUnavailable, match=r"store\.db is locked by another process"):
        await SqliteStore.open(path, SystemClock(), busy_timeout=timedelta(milliseconds=200))
    holder.go()
    assert holder.rest() == ["released"]
    async with Opened(path) as store:
        assert await store.get("a") is not None


async def test_a_commit_waits_for_a_lock_that_is_released_in_time(path: Path, workers: Workers) -> None:
    """A lock that goes away within the timeout only delays a commit."""
    create(path)
    store = await SqliteStore.open(path, SystemClock(), busy_timeout=timedelta(seconds=PATIENCE))
    holder = workers.start("lock", path)
    holder.await_ready()
    waiting = asyncio.ensure_future(store.commit([Put("a", b"")]))
    for _ in range(100):  # reads go through meanwhile, and so would a refusal
        assert await store.get("a") is None
    assert not waiting.done()
    holder.go()
    assert isinstance(await waiting, Committed)
    await store.close()


async def test_a_deleted_file_takes_no_more_commits(path: Path) -> None:
    """When the file is moved away, or replaced, under the store, commits raise instead of vanishing with it."""
    moved = AsyncPath(path)
    aside = moved.with_name("aside")
    async with Opened(path) as store:
        await store.commit([Put("a", b"")])
        await moved.rename(aside)
        with pytest.raises(StoreUnavailable, match=r"store\.db is gone: put it back, or stop the service"):
            await store.commit([Put("b", b"")])
        await moved.write_bytes(b"")
        with pytest.raises(StoreUnavailable, match="was replaced while it was in use"):
            await store.commit([Put("b", b"")])
        await aside.replace(moved)
        assert isinstance(await store.commit([Put("b", b"")]), Committed)
