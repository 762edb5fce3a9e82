"""A fenced lease: one holder at a time among all processes that share the store."""

from datetime import timedelta

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Check, Committed, Delete, Store, Unchanged
from orrery.record import Id, Record
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit
from orrery.runtime.due import is_ahead


class Holder(Record):
    """The holder of a lease, and its end."""

    holder: Id
    until: AwareDatetime


class Lease:
    """The right to do one job, for `term` at a time.

    `take()` returns the fencing token (a store version) or None. A write that must not come from a former
    holder has `fence(token)` among its checks.
    """

    def __init__(self, store: Store, clock: Clock, name: str, holder: str, term: timedelta) -> None:
        self._store = store
        self._clock = clock
        # One that cannot be read is free, or the job would never run.
        self._held = Collection(store, clock, Holder, f"lease:{name}", derived=True, life=FOR_EVER)
        self._holder = holder
        self._term = term
        self.since = 0
        """The store's version since which no other process has held the lease; 0 while it is another's."""

    async def take(self) -> int | None:
        """Take or renew the lease; return its fencing token, or None while another holds it."""
        held, unchanged = await self._held.replaceable()
        is_ours = held is not None and self._is_ours(held)
        if held and isinstance(unchanged, Unchanged) and not self._is_free(held):
            token = unchanged.version if is_ours else None
        else:
            ours = Holder(holder=self._holder, until=self._clock.now() + self._term)
            outcome = await commit(self._store, Changes([self._held.put(ours)], [unchanged]))
            token = outcome.version if isinstance(outcome, Committed) else None
        self.since = (is_ours and self.since) or token or 0
        return token

    def fence(self, token: int) -> Check:
        """Return the check that the lease is still the one that `token` was given for."""
        return Unchanged(self._held.key(), token)

    async def release(self, token: int) -> None:
        """Let another take the lease at once; a conflict means that another has taken it already."""
        _ = await commit(self._store, Changes([Delete(self._held.key())], [self.fence(token)]))

    async def give_up(self) -> None:
        """Let another take the lease at once if it is ours, as on a planned stop."""
        held = await self._held.find()
        if held and self._is_ours(held.record):
            await self.release(held.version)

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
