"""Every adapter of the store port, opened for a test."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.memory import MemoryStore
from orrery.adapters.sqlite import SqliteStore, create
from orrery.adapters.sqlite.place import SqliteFile
from orrery.app.store_place import back_up, file_place, put_in_place
from orrery.ports.clock import Clock
from orrery.ports.store import Committed, Put, Store, StoreEntry, StorePlace

ADAPTERS = ("memory", "sqlite")

Places = Callable[[str], StorePlace]
"""Returns a new place of an engine, `sqlite` or `postgres`."""


@asynccontextmanager
async def opened(adapter: str, directory: Path, clock: Clock) -> AsyncGenerator[Store]:
    """Yield a new store of the named adapter, and close it."""
    store: Store = MemoryStore(clock) if adapter == "memory" else await new_store(directory / "store.db", clock)
    try:
        yield store
    finally:
        await store.close()


async def new_store(path: Path, clock: Clock) -> SqliteStore:
    """Make a store at `path`, and open it."""
    await asyncio.to_thread(create, path)
    return await SqliteStore.open(path, clock)


async def pages(store: Store, prefix: str) -> AsyncGenerator[StoreEntry]:
    """Yield the entries whose keys begin so."""
    after = None
    while page := await store.scan(prefix, after=after, limit=1000):
        for entry in page:
            yield entry
        after = page[-1].key


async def entries(path: Path, clock: Clock, prefix: str = "") -> AsyncGenerator[StoreEntry]:
    """Yield those of the file at a path, that have not expired by this clock."""
    store = await SqliteStore.open(path, clock)
    try:
        async for entry in pages(store, prefix):
            yield entry
    finally:
        await store.close()


async def sets_in(store: Store) -> Counter[str]:
    """Return how many keys of each set that `hammer` of store_worker.py wrote are there."""
    return Counter([one.key.removeprefix("set:").rpartition(":")[0] async for one in pages(store, "set:")])


async def put(store: Store, *keys: str, ttl: timedelta | None = None) -> int:
    """Write `keys` in one commit and return its version."""
    outcome = await store.commit([Put(key, key.encode(), ttl) for key in keys])
    assert isinstance(outcome, Committed)
    return outcome.version


async def keys_of(store: Store, prefix: str = "", **options: object) -> list[str]:
    """Return the keys of a scan."""
    return [entry.key for entry in await store.scan(prefix, **options)]  # pyright: ignore[reportArgumentType] each option is checked by the store


def backup(path: Path, snapshot: Path) -> None:
    """Save the store in a file."""
    back_up(file_place(path), snapshot)


def restore(snapshot: Path, path: Path, clock: Clock | None = None, *, read_at: int | None = None) -> None:
    """Bring it back from a snapshot."""
    put_in_place(snapshot, SqliteFile(path, clock or SystemClock()), read_at=read_at)
