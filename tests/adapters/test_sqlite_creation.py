"""A store is made by word only, and comes back by a restore only (decision 50)."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from stat import S_IMODE

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.adapters.sqlite.file import StoreFile
from orrery.errors import Invalid, StoreMissing, StoreUnavailable
from orrery.ports.store import Put
from tests.support.store_worker import Opened
from tests.support.stores import backup, restore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store goes: a folder that is not there."""
    return tmp_path / "data" / "store.db"


def fill(path: Path) -> None:
    """Make a store with one entry, and close it."""

    async def work() -> None:
        async with Opened(path) as store:
            await store.commit([Put("a", b"1")])

    asyncio.run(work())


def is_filled(path: Path) -> bool:
    """Tell whether that entry is there."""

    async def work() -> bool:
        store = await SqliteStore.open(path, SystemClock())
        try:
            return await store.get("a") is not None
        finally:
            await store.close()

    return asyncio.run(work())


def lose(path: Path) -> None:
    """Empty the store's folder."""
    for file in path.parent.iterdir():
        file.unlink()


def test_opening_makes_no_store(path: Path) -> None:
    """A lost store is told with its path and what to do; opening makes neither a file nor a folder."""
    with pytest.raises(StoreMissing):
        is_filled(path)
    assert not path.parent.exists()
    fill(path)
    lose(path)
    with pytest.raises(StoreMissing) as refused:
        is_filled(path)
    sentence = (
        f"There is no store at {path}: make one with `orrery store create` "
        "(`orrery cockpit store create` for the cockpit's), or bring one back with `orrery restore`."
    )
    assert str(refused.value) == sentence
    assert list(path.parent.iterdir()) == []


def test_what_is_made_is_private(path: Path) -> None:
    """The folders that are made are 0700 and the store is 0600, whatever the umask."""
    before = os.umask(0)
    try:
        create(path)
    finally:
        os.umask(before)
    assert S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_making_a_store_writes_over_nothing(path: Path) -> None:
    """Where a store, an empty file or a broken link is, none is made."""
    fill(path)
    before = path.read_bytes()
    empty, link = path.with_name("empty.db"), path.with_name("link.db")
    empty.touch()
    link.symlink_to("nowhere")
    for taken in (path, empty, link):
        with pytest.raises(Invalid, match=f"There is a file at {taken} already: nothing was made"):
            create(taken)
    assert path.read_bytes() == before
    assert empty.read_bytes() == b""
    assert link.readlink() == Path("nowhere")


def test_a_log_without_its_store_is_no_store(path: Path) -> None:
    """Where the file is gone and its log is there, none is opened, saved or made: it belongs to the lost one."""
    fill(path)
    path.rename(path.with_name("aside.db"))
    path.with_name("store.db-wal").touch()
    copy = path.with_name("copy.db")
    for attempt in (partial(create, path), partial(backup, path, copy), partial(is_filled, path)):
        with pytest.raises(StoreMissing, match=r"store\.db is gone, but store\.db-wal is there"):
            attempt()
    assert not path.exists()
    assert not copy.exists()


def test_nothing_is_not_backed_up(path: Path) -> None:
    """A missing store, a store that nothing was written to, and an empty file give no snapshot."""
    copy = path.with_name("copy.db")
    with pytest.raises(StoreMissing, match="There is no store at"):
        backup(path, copy)
    create(path)
    with pytest.raises(Invalid, match="is empty, nothing was saved"):
        backup(path, copy)
    path.write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="is not an Orrery store"):
        backup(path, copy)
    assert not copy.exists()


LEFT: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: path,
    "its log": lambda path: path.with_name("store.db-wal").touch(),
    "an empty file": lambda path: path.touch(),
    "no folder": lambda path: path.parent.rmdir(),
}


@pytest.mark.parametrize("left", LEFT)
def test_what_is_lost_is_brought_back(path: Path, left: str) -> None:
    """A restore works where opening is refused, whatever is left of the store."""
    fill(path)
    copy = path.parent.with_name("copy.db")
    backup(path, copy)
    lose(path)
    LEFT[left](path)
    restore(copy, path, SystemClock())
    assert is_filled(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can restore what belongs to another user")
def test_root_leaves_a_lost_store_to_the_user_of_its_folder(path: Path) -> None:
    """A store that root brings back, and its lock, belong to the service's user, who could not open them else."""
    fill(path)
    copy = path.parent.with_name("copy.db")
    backup(path, copy)
    lose(path)
    os.chown(path.parent, 4711, 4712)
    restore(copy, path, SystemClock())
    found = {(file.stat().st_uid, file.stat().st_gid) for file in path.parent.iterdir()}
    assert found == {(4711, 4712)}


def test_a_place_that_cannot_be_looked_at_is_not_called_empty(path: Path) -> None:
    """Where the system does not say whether there is a store, the sentence sends nobody to make one."""
    fill(path)
    place = path.with_name("x" * 300)
    for attempt in (partial(StoreFile, place), partial(backup, place, path.with_name("copy.db"))):
        with pytest.raises(StoreUnavailable, match="could not be used"):
            attempt()


def test_a_store_that_is_just_made_is_whole(path: Path) -> None:
    """What `create` leaves is a store that opens, with nothing else beside it but its lock."""
    create(path)
    assert {file.name for file in path.parent.iterdir()} == {"store.db", "store.db.lock"}
    with closing(StoreFile(path)) as file:
        file.verify_in_place()
    assert not is_filled(path)
