"""`orrery restore` takes over the numbers of sales from the store that it replaces, or says that it cannot."""

import asyncio
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.cli.restore import restored
from orrery.app.settings.reader import load
from orrery.checkout.number_records import LastNumber, last_numbers_of, numbers_unknown_of
from orrery.runtime.collection import write
from orrery.runtime.index_key import index_key
from tests.support.stores import backup

SERIES = "NW-2026"


async def count(path: Path, last: int) -> None:
    """Store the last number of a series."""
    store = await SqliteStore.open(path, SystemClock())
    _ = await index_key(store)
    numbers = last_numbers_of(store, SystemClock())
    await write(store, [numbers.put(LastNumber(last=last), SERIES)])
    await store.close()


async def counted(path: Path) -> tuple[int, bool]:
    """Return the last number, and whether it is known for sure."""
    store = await SqliteStore.open(path, SystemClock())
    numbers = await last_numbers_of(store, SystemClock()).require(SERIES)
    unknown = await numbers_unknown_of(store, SystemClock()).get()
    await store.close()
    return numbers.record.last, unknown is None


@pytest.mark.parametrize("is_gone", [False, True])
def test_the_numbers_of_the_store_before(is_gone: bool, tmp_path: Path) -> None:  # noqa: FBT001  pytest passes parameters by position
    """Eight were given, five before the snapshot: the next is the ninth, or none before the owner's word."""
    tmp_path.chmod(0o700)
    path, snapshot, file = tmp_path / "store.db", tmp_path / "snapshot.db", tmp_path / "orrery.toml"
    file.write_text('mode = "test"\n[store]\npath = "store.db"\n')
    create(path)
    asyncio.run(count(path, 5))
    backup(path, snapshot)
    asyncio.run(count(path, 8))
    if is_gone:
        path.unlink()
    reports = restored(snapshot, *load(file)).reports
    assert asyncio.run(counted(path)) == ((5, False) if is_gone else (8, True))
    assert any("`orrery checkout numbers`" in sentence for one in reports for sentence in one.sentences) is is_gone
