"""Every adapter of the store port, opened for a test."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from orrery.adapters.memory import MemoryStore
from orrery.adapters.sqlite import SqliteStore, create
from orrery.ports.clock import Clock
from orrery.ports.store import Committed, Put, Store

ADAPTERS = ("memory", "sqlite")


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


async def sets_in(store: Store) -> Counter[str]:
    """Return how many keys of each set that `hammer` of store_worker.py wrote are there."""
    found: Counter[str] = Counter()
    after = None
    while page := await store.scan("set:", after=after, limit=1000):
        found.update(entry.key.removeprefix("set:").rpartition(":")[0] for entry in page)
        after = page[-1].key
    return found


async def put(store: Store, *keys: str, ttl: timedelta | None = None) -> int:
    """Write `keys` in one commit and return its version."""
    outcome = await store.commit([Put(key, key.encode(), ttl) for key in keys])
    assert isinstance(outcome, Committed)
    return outcome.version


async def keys_of(store: Store, prefix: str = "", **options: object) -> list[str]:
    """Return the keys of a scan."""
    return [entry.key for entry in await store.scan(prefix, **options)]  # pyright: ignore[reportArgumentType] each option is checked by the store
