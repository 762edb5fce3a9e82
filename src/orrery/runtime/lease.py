"""A fenced lease: one holder at a time among all processes that share the store."""

import asyncio
from datetime import timedelta

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Committed, Delete, Store, Unchanged
from orrery.record import Id, Record
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit
from orrery.runtime.due import is_ahead
from orrery.runtime.fence import Fence


class Holder(Record):
    """The holder of a lease, and its end."""

    holder: Id
    until: AwareDatetime


class Lease:
    """The right to do one job, for `term` at a time."""

    def __init__(self, store: Store, clock: Clock, name: str, holder: str, term: timedelta) -> None:
        self._store = store
        self._clock = clock
        # One that cannot be read is free, or the job would never run.
        self._held = Collection(store, clock, Holder, f"lease:{name}", derived=True, life=FOR_EVER)
        self._holder = holder
        self._term = term
        self._renewing = asyncio.Lock()
        self._fence: Fence | None = None

    async def take(self) -> Fence | None:
        """Take or renew the lease; return its fence, or None while another holds it.

        The fence is the same one until another process has held the lease.
        """
        async with self._renewing:
            held, unchanged = await self._held.replaceable()
            is_ours = held is not None and self._is_ours(held)
            if not is_ours:
                self._fence = None  # before the commit, whose answer may be lost
            if held and isinstance(unchanged, Unchanged) and not self._is_free(held):
                return self._at(unchanged.version) if is_ours else None
            ours = Holder(holder=self._holder, until=self._clock.now() + self._term)
            outcome = await commit(self._store, Changes([self._held.put(ours)], [unchanged]))
            return self._at(outcome.version) if isinstance(outcome, Committed) else None

    async def give_up(self) -> None:
        """Let another take the lease at once if it is ours, as on a planned stop."""
        held = await self._held.find()
        if held and self._is_ours(held.record):
            # A conflict means that another has taken it already.
            check = Unchanged(self._held.key(), held.version)
            _ = await commit(self._store, Changes([Delete(check.key)], [check]))

    def _at(self, version: int) -> Fence:
        if self._fence is None:
            self._fence = Fence(self._held.key(), version, version, self._renewing)
        self._fence.version = version
        return self._fence

    def _is_free(self, held: Holder) -> bool:
        """Our own lease counts as free when half its term is over, so that frequent calls cost few commits.

        A lease that would run for far longer than its term was taken before the clock was put back. Its holder may
        have ended long ago, and would block the job until the clock reaches the old time again.
        """
        now = self._clock.now()
        over = self._is_ours(held) and held.until - now < self._term / 2
        return over or not is_ahead(held.until, now, self._term)

    def _is_ours(self, held: Holder) -> bool:
        return held.holder == self._holder
