"""Every adapter of the store port, opened for a test."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from orrery.adapters.memory import MemoryStore
from orrery.adapters.sqlite import SqliteStore, create
from orrery.errors import OutcomeUnknown
from orrery.ports.clock import Clock
from orrery.ports.store import Check, Committed, Conflict, Inspection, Put, Store, StoreEntry, Write

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


class LossyStore:
    """A store behind a line that loses answers: `lose` is "before" the commit is done, "after" it, or None."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.lose: str | None = None

    async def get(self, key: str) -> StoreEntry | None:
        """Pass on."""
        return await self._store.get(key)

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Pass on."""
        return await self._store.scan(prefix, after=after, limit=limit, reverse=reverse)

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Pass on, and lose the answer when asked to."""
        lost, self.lose = self.lose, None
        if lost == "before":
            raise OutcomeUnknown("The answer was lost.", commit_id or "")
        outcome = await self._store.commit(writes, checks, commit_id=commit_id)
        if lost == "after":
            raise OutcomeUnknown("The answer was lost.", commit_id or "")
        return outcome

    async def scrub(self) -> bool:
        """Pass on."""
        return await self._store.scrub()

    async def inspect(self) -> Inspection:
        """Pass on."""
        return await self._store.inspect()

    async def close(self) -> None:
        """Pass on."""
        await self._store.close()


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
