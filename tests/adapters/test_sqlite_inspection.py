"""What an inspection sees of the storage of a store in use, and that it disturbs nobody."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio import Path as AsyncPath

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.errors import StoreUnavailable
from orrery.ports.store import Committed, Put
from tests.support.store_worker import Opened

ALONE = (
    "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode = delete').fetchone())"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store goes."""
    return tmp_path / "store.db"


def write_over(path: Path, text: bytes, at: int) -> None:
    """Write into the file."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(text)


def replace(path: Path) -> None:
    """Put a copy in the place of the file."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


TROUBLES: dict[str, tuple[Callable[[Path], object], str, bool]] = {
    "gone": (Path.unlink, "is gone: put it back", True),
    "replaced": (replace, "was replaced while it was in use", True),
    "cut short": (
        lambda path: os.truncate(path, path.stat().st_size - 4096),
        "was cut short while it was in use",
        True,
    ),
    "emptied": (lambda path: os.truncate(path, 0), "was cut short while it was in use", True),
    "no database any more": (
        lambda path: write_over(path, b"a text", 0),
        "was written over while it was in use",
        False,
    ),
    "another program's": (
        lambda path: write_over(path, b"Note", 68),
        "was written over while it was in use",
        False,
    ),
    "another schema": (lambda path: write_over(path, b"\x01", 40), "was written over while it was in use", False),
}
"""What is done to the file, what is said of it, and whether a commit is refused, too."""


@pytest.mark.parametrize("name", TROUBLES)
async def test_a_file_that_was_changed_is_named(path: Path, name: str) -> None:
    """An inspection says what was done to the file under the store, also when commits to the log succeed."""
    change, sentence, refused = TROUBLES[name]
    async with Opened(path) as store:
        await store.commit([Put("a", b"x" * 10_000)])
        before = await store.inspect()
        assert (before.last_version, before.failed) == (1, 0)
        change(path)
        with pytest.raises(StoreUnavailable, match=sentence):
            await store.inspect()
        if refused:
            with pytest.raises(StoreUnavailable, match=sentence):
                await store.commit([Put("b", b"")])
        else:
            assert isinstance(await store.commit([Put("b", b"")]), Committed)


async def test_a_failed_commit_is_counted(path: Path) -> None:
    """Whoever asked for it: the next inspection shows it."""
    async with Opened(path) as store:
        aside = await AsyncPath(path).rename(path.with_name("aside.db"))
        with pytest.raises(StoreUnavailable):
            await store.commit([Put("a", b"")])
        await aside.rename(path)
        assert (await store.inspect()).failed == 1


def alone(path: Path) -> str:
    """Return what another program is told when it asks for the file to itself."""
    asked = [sys.executable, "-c", ALONE, str(path)]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stderr  # noqa: S603  our own interpreter


async def test_an_inspection_keeps_the_locks(path: Path) -> None:
    """Closing a handle of the file would drop them, and let another program take the log away."""
    async with Opened(path) as store:
        await store.commit([Put("a", b"")])
        for _ in range(3):
            await store.inspect()
        assert "database is locked" in alone(path)


async def test_the_room_is_that_of_the_disk(path: Path) -> None:
    """What is free is what this user may still write there."""
    async with Opened(path) as store:
        free = (await store.inspect()).free
        assert free is not None
        assert 0 < free <= shutil.disk_usage(path.parent).total


async def test_a_store_that_is_just_made_gave_out_nothing(path: Path) -> None:
    """Its last version is 0, so that it is known for a new one."""
    async with Opened(path) as store:
        assert (await store.inspect()).last_version == 0
    reopened = await SqliteStore.open(path, SystemClock())
    assert (await reopened.inspect()).last_version == 0
    await reopened.close()
