"""The public reads: bytes from the shared cache, and nothing else (spec 2, What the service does 2).

Nothing here can reach the analytics provider: an import rule checks it. An empty cache stays an empty answer.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from orrery.errors import RecordUnreadable, StoreError
from orrery.live import keys
from orrery.live.answers import CachedAnswer
from orrery.live.records import Active, LastError, Pages, RefreshOutcome, Snapshot
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import Collection, R

DEADLINE = 2.0
"""Seconds that the store may take: readers wait for it."""

READ_AGAIN = 5.0
"""Seconds after the beginning of a read of the store at which the next one begins, for who asks then.

So a node never answers with less than what the store had 5 s ago, whichever node has written it.
"""

RENDER_EVERY = 1.0
"""Seconds for which a composed answer is sent: it gives its age in whole seconds."""


class Composer(Protocol):
    """Composes the answer of one endpoint."""

    def __call__(self, snapshot: Snapshot, now: datetime, *, reachable: bool = True) -> CachedAnswer: ...


class FirstLevelCache:
    """The last read of the store at this node."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.until = float("-inf")
        """When the last read is too old, in the clock's monotonic time."""
        self._loading = asyncio.Lock()
        self.snapshot = Snapshot()
        self.reachable = True
        self.edition = 0
        """Grows with each load, so that answers from an older one are recognised."""

    async def loaded(self) -> None:
        """Read the store when the last read is older than `READ_AGAIN`; callers at the same time share one."""
        if self._clock.monotonic() < self.until:
            return
        async with self._loading:
            if self._clock.monotonic() >= self.until:
                await self._load()

    async def reload(self) -> None:
        """Read the store now: it has just been written."""
        async with self._loading:
            await self._load()

    async def _load(self) -> None:
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(DEADLINE):
                self.snapshot = await snapshot_in(self._store, self._clock)
            self.reachable, self.until = True, began + READ_AGAIN
        except (StoreError, TimeoutError) as error:
            # The last read stays: a real count that grows old is better than none (spec 2, What it does 3).
            log.warning("live count not read", kind=type(error).__name__, why=str(error))
            self.reachable, self.until = False, self._clock.monotonic() + READ_AGAIN
        self.edition += 1


def cached_counts(store: Store, clock: Clock, kind: type[R], key: str) -> Collection[R]:
    """Return the collection of what a refresh counted under one of `keys`."""
    return Collection(store, clock, kind, key, life=keys.VALUE_TTL)


def last_error(store: Store, clock: Clock) -> Collection[LastError]:
    """Return the collection of why a refresh failed last."""
    return Collection(store, clock, LastError, keys.LAST_ERROR, life=keys.LAST_ERROR_TTL)


def last_outcome(store: Store, clock: Clock) -> Collection[RefreshOutcome]:
    """Return the collection of what a refresh did last."""
    return Collection(store, clock, RefreshOutcome, keys.OUTCOME, life=keys.LAST_ERROR_TTL)


async def read(records: Collection[R], unreadable: list[str] | None = None) -> R | None:
    """Return the only record of a collection, or None without a readable one.

    The log names a record that cannot be read; its key is added to `unreadable`.
    """
    try:
        found = await records.get()
    except RecordUnreadable as error:
        log.warning("a record cannot be read", key=error.name)
        if unreadable is not None:
            unreadable.append(error.name)
        return None
    return found.record if found else None


async def snapshot_in(store: Store, clock: Clock) -> Snapshot:
    """Read the store's present records; raise `StoreError`."""
    unreadable = list[str]()
    active = await read(cached_counts(store, clock, Active, keys.ACTIVE), unreadable)
    pages = await read(cached_counts(store, clock, Pages, keys.PAGES), unreadable)
    return Snapshot(active, pages, tuple(unreadable))


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
        self._until = min(self._monotonic() + RENDER_EVERY, self._cache.until)
        self._answer = self._compose(self._cache.snapshot, self._now(), reachable=self._cache.reachable)
        return self._answer
