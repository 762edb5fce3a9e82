"""Whatever is at the path of a store, opening it says what it is and changes nothing; a restore heals it."""

import asyncio
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.errors import StoreMissing, StoreUnavailable
from orrery.ports.store import Put
from orrery.runtime.index_key import index_key
from tests.support.store_states import STATES
from tests.support.stores import backup, restore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a store is that was in use, with a snapshot of it beside its folder."""
    path = tmp_path / "data" / "orrery.db"
    create(path)
    used(path)
    backup(path, tmp_path / "snapshot.db")
    return path


def used(path: Path) -> None:
    """Open the store as a service does, write to it, and close it."""

    async def work() -> None:
        store = await SqliteStore.open(path, SystemClock())
        try:
            _ = await index_key(store)
            await store.commit([Put("a", b"1" * 5000)])
        finally:
            await store.close()

    asyncio.run(work())


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_refused_and_healed(path: Path, name: str) -> None:
    """One sentence each time, the same bytes afterwards, and a store again once a snapshot was restored."""
    state = STATES[name]
    state.bring(path)
    before = {file: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    for _ in range(2):
        with pytest.raises(StoreMissing if state.missing else StoreUnavailable) as refused:
            used(path)
        assert state.sentence in str(refused.value)
    if "emptied" not in state.sentence:  # `backup` does not know which entry a service misses
        with pytest.raises((StoreMissing, StoreUnavailable)):
            backup(path, path.parent.with_name("copy.db"))
    assert {file: file.read_bytes() for file in before} == before
    if state.restorable:
        restore(path.parent.with_name("snapshot.db"), path, SystemClock())
        used(path)
