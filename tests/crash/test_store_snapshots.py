"""Snapshots of a store in use, and restores that are refused, cut short, or done."""

import asyncio
import os
import select
import shutil
import time
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from stat import S_IMODE
from typing import TypeVar

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.app.store_place import file_place
from orrery.errors import Invalid, StoreMissing, StoreUnavailable
from orrery.ports.store import Put, StoreEntry
from tests.crash.workers import Worker, Workers
from tests.support.clock import ManualClock
from tests.support.soak import rounds
from tests.support.store_worker import PARTS, Opened
from tests.support.stores import backup, restore, sets_in

ROUNDS = rounds(8)
ROWS = 1000
T = TypeVar("T")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store goes."""
    return tmp_path / "store.db"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Return where the snapshot goes."""
    return tmp_path / "snapshot.db"


@pytest.fixture
def workers() -> Generator[Workers, None, None]:
    """Yield the means to start processes, and end those that the test left."""
    workers = Workers()
    yield workers
    workers.close()


def with_store(path: Path, work: Callable[[SqliteStore], Awaitable[T]]) -> T:
    """Open the store, do `work` with it, and close it."""

    async def run() -> T:
        async with Opened(path) as store:
            return await work(store)

    return asyncio.run(run())


def fill(path: Path, word: str, *, rows: int = 3) -> list[StoreEntry]:
    """Put `rows` entries that say `word`, in one commit, and return all that is there."""

    async def work(store: SqliteStore) -> list[StoreEntry]:
        await store.commit([Put(f"{n:04}", word.encode() * 50) for n in range(rows)])
        return await store.scan("", limit=rows + 10)

    return with_store(path, work)


def entries_of(path: Path) -> list[StoreEntry]:
    """Return all entries of the store."""
    return with_store(path, lambda store: store.scan("", limit=ROWS + 10))


def started(workers: Workers, mode: str, path: Path, argument: str = "") -> Worker:
    """Return a worker that is up and told to go."""
    worker = workers.start(mode, path, argument)
    worker.await_ready()
    worker.go()
    return worker


def leftovers(path: Path) -> set[str]:
    """Return the names beside the store that are neither the store, its lock, nor what a restore keeps."""
    known = {path.name, f"{path.name}.lock", f"{path.name}.before-restore", "snapshot.db", "snapshot.db.lock"}
    return {found.name for found in path.parent.iterdir()} - known


def test_snapshots_of_a_store_in_use_are_whole(path: Path, tmp_path: Path, workers: Workers) -> None:
    """While another process writes sets of three, each snapshot opens with whole sets only, and more each time."""
    hammer = started(workers, "hammer", path, "h")
    counts: list[int] = []
    for number in range(3):
        acknowledged = {hammer.line() for _ in range(30)}
        copy = tmp_path / f"snapshot-{number}.db"
        backup(path, copy)
        found = with_store(copy, sets_in)
        assert acknowledged <= set(found)
        assert set(found.values()) == {len(PARTS)}
        counts.append(len(found))
    assert counts == sorted(set(counts))


def test_a_snapshot_is_one_private_file(path: Path, snapshot: Path) -> None:
    """A snapshot is 0600, needs no second file, and leaves nothing else behind."""
    expected = fill(path, "old")
    backup(path, snapshot)
    assert S_IMODE(snapshot.stat().st_mode) == 0o600
    assert leftovers(path) == set()
    moved = path.parent / "elsewhere" / "store.db"
    moved.parent.mkdir()
    snapshot.rename(moved)
    assert entries_of(moved) == expected


def test_a_snapshot_overwrites_nothing(path: Path, snapshot: Path) -> None:
    """A target that exists is refused and stays as it is."""
    fill(path, "old")
    snapshot.write_text("precious")
    with pytest.raises(Invalid, match=r"snapshot\.db exists already: choose"):
        backup(path, snapshot)
    assert snapshot.read_text() == "precious"


def test_a_name_that_is_no_text(path: Path, tmp_path: Path) -> None:
    """SQLite cannot be told such a name: one sentence, either way, and the store stays."""
    old, odd = fill(path, "old"), tmp_path / "snapshot-\udcff"
    for _ in range(2):
        with pytest.raises(Invalid, match="bytes that are no text"):
            backup(path, odd)
    odd.write_bytes(path.read_bytes())
    with pytest.raises(Invalid, match="bytes that are no text"):
        restore(odd, path, SystemClock())
    assert entries_of(path) == old


def test_a_damaged_store_has_no_snapshot(path: Path, snapshot: Path) -> None:
    """A store that fails its integrity check is not passed on as a good snapshot."""
    fill(path, "old", rows=ROWS)
    damage(path)
    with pytest.raises(StoreUnavailable, match=r"store\.db is damaged"):
        backup(path, snapshot)
    assert not snapshot.exists()


def damage(path: Path) -> None:
    """Overwrite some pages in the middle of the file."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xa5" * 3 * 4096)


def test_a_restore_brings_back_the_snapshot_and_keeps_what_was(path: Path, snapshot: Path) -> None:
    """After a restore the store is as in the snapshot, and `.before-restore` is the store as it was."""
    old = fill(path, "old")
    backup(path, snapshot)
    new = fill(path, "new")
    restore(snapshot, path, SystemClock())
    assert entries_of(path) == old
    assert S_IMODE(path.stat().st_mode) == 0o600
    assert leftovers(path) == set()
    assert entries_of(path.with_name("store.db.before-restore")) == new


def test_a_store_whose_log_was_taken_away_is_not_whole(path: Path, workers: Workers) -> None:
    """A restore that was interrupted took it: what the store would tell of messages is not all."""
    fill(path, "old")
    assert file_place(path).last_version(0) is not None
    killed_in_use(path, workers)
    path.with_name("store.db-wal").rename(path.with_name("store.db.before-restore-wal"))
    assert file_place(path).last_version(0) is None


def test_versions_are_not_reused_across_restores(path: Path, snapshot: Path) -> None:
    """Twice the same snapshot, the second time over a file past reading: no version is given out twice."""
    fill(path, "old")
    backup(path, snapshot)
    clock = ManualClock()
    issued = {entry.version for entry in fill(path, "lost")}
    for _ in range(2):
        clock.advance(1)
        restore(snapshot, path, clock)
        found = {entry.version for entry in fill(path, "again")}
        assert min(found) > max(issued)
        issued |= found
        path.write_bytes(b"past reading")
        path.with_name("store.db.before-restore").unlink()


def test_a_restore_is_refused_while_another_process_has_the_store(
    path: Path, snapshot: Path, workers: Workers
) -> None:
    """One sentence, and the running store is untouched; once the process is gone the restore is done."""
    old = fill(path, "old")
    backup(path, snapshot)
    hammer = started(workers, "hammer", path, "h")
    hammer.line()
    with pytest.raises(Invalid, match=r"store\.db is in use: stop the service"):
        restore(snapshot, path, SystemClock())
    assert hammer.line()
    hammer.kill()
    restore(snapshot, path, SystemClock())
    assert entries_of(path) == old
    assert leftovers(path) == set()


def test_a_restore_is_refused_while_another_program_has_the_file(
    path: Path, snapshot: Path, workers: Workers
) -> None:
    """A program that does not know our lock file keeps a restore out too."""
    fill(path, "old")
    backup(path, snapshot)
    started(workers, "peek", path).line()
    with pytest.raises(Invalid, match=r"store\.db is in use by another program"):
        restore(snapshot, path, SystemClock())


def test_an_earlier_kept_store_is_not_overwritten(path: Path, snapshot: Path) -> None:
    """A second restore is refused while the `.before-restore` of the first is there: it may be all there is."""
    fill(path, "old")
    backup(path, snapshot)
    new = fill(path, "new")
    restore(snapshot, path, SystemClock())
    with pytest.raises(Invalid, match=r"store\.db\.before-restore of an earlier restore is still there"):
        restore(snapshot, path, SystemClock())
    assert entries_of(path.with_name("store.db.before-restore")) == new


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\x00" + b"\xa5" * 8192])
def test_what_is_no_snapshot_is_refused(path: Path, snapshot: Path, content: bytes) -> None:
    """A snapshot that is empty or garbage is `Invalid`, and the store stays."""
    old = fill(path, "old")
    snapshot.write_bytes(content)
    with pytest.raises(Invalid, match=r"snapshot\.db"):
        restore(snapshot, path, SystemClock())
    assert entries_of(path) == old


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can restore what belongs to another user")
def test_root_leaves_the_store_to_its_user(path: Path, snapshot: Path) -> None:
    """A store that root restores still belongs to the user of the service, who could not open it otherwise."""
    fill(path, "old")
    backup(path, snapshot)
    os.chown(path, 4711, 4712)
    restore(snapshot, path, SystemClock())
    found = path.stat()
    assert (found.st_uid, found.st_gid, S_IMODE(found.st_mode)) == (4711, 4712, 0o600)


def test_a_damaged_snapshot_is_refused(path: Path, snapshot: Path) -> None:
    """A snapshot that fails its integrity check is `Invalid`, and the store stays."""
    fill(path, "old", rows=ROWS)
    backup(path, snapshot)
    new = fill(path, "new", rows=ROWS)
    damage(snapshot)
    with pytest.raises(Invalid, match=r"nothing was replaced.*snapshot\.db is damaged"):
        restore(snapshot, path, SystemClock())
    assert entries_of(path) == new


def killed_in_use(path: Path, workers: Workers) -> bytes:
    """Leave the store as a kill does, and return its log."""
    hammer = started(workers, "hammer", path, "h")
    hammer.line()
    hammer.kill()
    logged = path.with_name("store.db-wal").read_bytes()
    assert logged
    return logged


def test_the_log_of_a_killed_process_is_kept(path: Path, snapshot: Path, workers: Workers) -> None:
    """What a killed process had committed is in the store that a restore keeps."""
    fill(path, "old")
    backup(path, snapshot)
    killed_in_use(path, workers)
    restore(snapshot, path, SystemClock())
    assert with_store(path.with_name("store.db.before-restore"), sets_in)
    assert not with_store(path, sets_in)


@pytest.mark.parametrize("content", [b"", b"\xa5" * 8192])
def test_a_damaged_store_is_replaced(path: Path, snapshot: Path, workers: Workers, content: bytes) -> None:
    """Whatever is left of a store, and of its log, is not read into the restored one."""
    old = fill(path, "old")
    backup(path, snapshot)
    killed_in_use(path, workers)
    path.write_bytes(content)
    restore(snapshot, path, SystemClock())
    assert entries_of(path) == old


def test_a_log_without_its_store_is_kept_aside(path: Path, snapshot: Path, workers: Workers) -> None:
    """A log whose file is gone is refused by opening, and kept out of the new file by a restore."""
    old = fill(path, "old")
    backup(path, snapshot)
    logged = killed_in_use(path, workers)
    path.unlink()
    with pytest.raises(StoreMissing, match=r"store\.db is gone, but store\.db-wal is there"):
        asyncio.run(SqliteStore.open(path, SystemClock()))
    restore(snapshot, path, SystemClock())
    assert entries_of(path) == old
    assert path.with_name("store.db.before-restore-wal").read_bytes() == logged


def test_a_killed_restore_leaves_the_old_store_or_the_new(tmp_path: Path, workers: Workers) -> None:
    """Killed at any moment, a restore leaves one of the two stores whole, and it can be run to its end."""
    origin = tmp_path / "origin"
    old = fill(origin / "store.db", "old", rows=ROWS)
    backup(origin / "store.db", origin / "snapshot.db")
    new = fill(origin / "store.db", "new", rows=ROWS)
    seconds = timed_restore(copied(origin, "timed"), workers)
    targets = [copied(origin, f"round-{number}") for number in range(ROUNDS)]
    running = [workers.start("put_back", target, str(target.with_name("snapshot.db"))) for target in targets]
    for number, (target, worker) in enumerate(zip(targets, running, strict=True)):
        worker.await_ready()
        worker.go()
        select.select([worker.output], [], [], seconds * number / ROUNDS)
        worker.kill()
        found = entries_of(target)
        assert found in (old, new)
        if found == new:
            restore(target.with_name("snapshot.db"), target, SystemClock())
            assert entries_of(target) == old
            assert leftovers(target) == set()
        assert entries_of(target.with_name("store.db.before-restore")) == new


def copied(origin: Path, name: str) -> Path:
    """Return a store in a directory of its own, with its snapshot beside it."""
    return shutil.copytree(origin, origin.parent / name) / "store.db"


def timed_restore(target: Path, workers: Workers) -> float:
    """Return the seconds that a restore takes which nobody cuts short."""
    worker = workers.start("put_back", target, str(target.with_name("snapshot.db")))
    worker.await_ready()
    begin = time.monotonic()  # spreads the kills over the time that a restore takes here
    worker.go()
    assert worker.line() == "restored"
    return time.monotonic() - begin  # nothing is asserted of it
