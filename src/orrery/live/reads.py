"""The public reads: bytes from the shared cache, and nothing else (spec 2, What the service does 2).

Nothing here can reach the analytics provider: an import rule says so. An empty cache stays an empty answer.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeVar

import structlog
from pydantic import ValidationError

from orrery.errors import StoreError
from orrery.live import keys
from orrery.live.answers import CachedAnswer
from orrery.live.records import Active, Pages, Snapshot
from orrery.ports.clock import Clock
from orrery.ports.store import Entry, Store
from orrery.record import Record

KEEP = 60.0
"""Seconds that a process keeps what it read from the store (spec 2, Read response fields: first-level cache)."""

DEADLINE = 2.0
"""Seconds that the store may take: readers wait for it."""

TRY_AGAIN = 5.0
"""Seconds after which a store that could not be read is asked again."""

RENDER_EVERY = 1.0
"""Seconds for which a composed answer is sent: it gives its age in whole seconds."""

Kind = TypeVar("Kind", bound=Record)

log = structlog.get_logger()


class Composer(Protocol):
    """Composes the answer of one endpoint."""

    def __call__(self, snapshot: Snapshot, now: datetime, *, reachable: bool = True) -> CachedAnswer: ...


class FirstLevelCache:
    """What this process last read from the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._until = float("-inf")
        self._loading = asyncio.Lock()
        self.snapshot = Snapshot()
        self.reachable = True
        self.edition = 0
        """Grows with each load, so that what was composed from an older one is known."""

    async def loaded(self) -> None:
        """Read the store if what is held is older than `KEEP`; many callers cause one read."""
        if self._clock.monotonic() < self._until:
            return
        async with self._loading:
            if self._clock.monotonic() >= self._until:
                await self._load()

    async def reload(self) -> None:
        """Read the store now: it has just been written."""
        async with self._loading:
            await self._load()

    async def _load(self) -> None:
        try:
            async with asyncio.timeout(DEADLINE):
                self.snapshot = await snapshot_in(self._store)
            self.reachable, keep = True, KEEP
        except (StoreError, TimeoutError) as error:
            # What is held stays: a real count that grows old is better than none (spec 2, What it does 3).
            log.warning("live count not read", kind=type(error).__name__, why=str(error))
            self.reachable, keep = False, TRY_AGAIN
        self._until = self._clock.monotonic() + keep
        self.edition += 1


def read(kind: type[Kind], entry: Entry | None) -> Kind | None:
    """Return what is stored, or None when there is nothing, or, as the log says, something that cannot be read."""
    if entry is None:
        return None
    try:
        return kind.from_bytes(entry.value)
    except ValidationError:
        log.warning("a record cannot be read", key=entry.key)
        return None


async def snapshot_in(store: Store) -> Snapshot:
    """Return what the store holds now; raise `StoreError`."""
    entries = {key: await store.get(key) for key in (keys.ACTIVE, keys.PAGES)}
    active, pages = read(Active, entries[keys.ACTIVE]), read(Pages, entries[keys.PAGES])
    found = {keys.ACTIVE: active, keys.PAGES: pages}
    return Snapshot(active, pages, tuple(key for key, entry in entries.items() if entry and not found[key]))


class PublicRead:
    """One public endpoint: the same bytes for everybody, composed at most once a second."""

    def __init__(self, cache: FirstLevelCache, clock: Clock, compose: Composer) -> None:
        self._cache = cache
        self._now: Callable[[], datetime] = clock.now
        self._monotonic: Callable[[], float] = clock.monotonic
        self._compose = compose
        self._answer: CachedAnswer | None = None
        self._until = float("-inf")
        self._edition = -1

    def ready(self) -> CachedAnswer | None:
        """Return the answer that was composed last, unless it is more than a second old."""
        if self._monotonic() < self._until and self._edition == self._cache.edition:
            return self._answer
        return None

    async def answer(self) -> CachedAnswer:
        await self._cache.loaded()
        if (found := self.ready()) is not None:
            return found
        self._edition = self._cache.edition
        self._until = self._monotonic() + RENDER_EVERY
        self._answer = self._compose(self._cache.snapshot, self._now(), reachable=self._cache.reachable)
        return self._answer
