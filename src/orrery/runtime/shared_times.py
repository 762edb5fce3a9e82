"""When something was let through lately, at all nodes: what they allow does not grow with their number.

Nodes whose clocks differ by more than a limit looks back on count alone: for the one, the other's entries expired.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Conflict, Store
from orrery.record import Record
from orrery.runtime.collection import Changes, Collection, commit, compare_and_set
from orrery.runtime.tasks import together

MOST_SHARED = 1000
"""More times than these are too many to be written each time: a limit that looks back on more is each node's."""


class LetThrough(Record):
    """When one scope was let through."""

    at: tuple[AwareDatetime, ...]


class SharedTimes:
    """The `most` newest times of each scope, in `times`, until none has come for the life of that.

    A scope may be a client's address, so its key holds a keyed digest of it.
    """

    def __init__(self, times: Collection[LetThrough], index_key: bytes, most: int) -> None:
        self._times = times
        self._index_key = index_key
        self._most = most
        self._turns = WeakValueDictionary[str, asyncio.Lock]()
        """Of each widest scope: so that those of one node, which may be many at once, never conflict."""

    async def add(
        self, scopes: Sequence[str], wait: Callable[[Sequence[Sequence[float]]], int]
    ) -> tuple[int, int]:
        """Count one more in every scope, unless `wait` of their times, in seconds from now, is above 0.

        Returns that wait, and how many the first scope counts then. Raises the store's errors.
        """
        if self._most > MOST_SHARED:
            return 0, 0
        ids = [hmac.new(self._index_key, one.encode(), hashlib.sha256).hexdigest() for one in scopes]

        async def attempt() -> tuple[int, int] | Conflict:
            now, found = self._times.clock.now(), await together(*(self._times.replaceable(one) for one in ids))
            known = [record.at if record else () for record, _ in found]
            if seconds := wait([_from(now, times) for times in known]):
                return seconds, len(known[0])
            puts = [self._times.put(self._with(one, now), to) for one, to in zip(known, ids, strict=True)]
            outcome = await commit(self._times.store, Changes(puts, [unchanged for _, unchanged in found]))
            return outcome if isinstance(outcome, Conflict) else (0, len(known[0]) + 1)

        async with self._turns.setdefault(ids[-1], asyncio.Lock()):
            return await compare_and_set(attempt, "Too many come at once to be counted; try again.")

    def _with(self, times: Sequence[datetime], now: datetime) -> LetThrough:
        return LetThrough(at=(*times, now)[-self._most :])


def wrong_passwords_of(store: Store, clock: Clock, life: timedelta) -> Collection[LetThrough]:
    """Return the times of wrong admin passwords."""
    return Collection(store, clock, LetThrough, "wrong-passwords:", derived=True, life=life)


def _from(now: datetime, times: Sequence[datetime]) -> list[float]:
    # After a clock was put back, a time may be hours ahead: that must keep no client waiting.
    return sorted(-abs((now - one).total_seconds()) for one in times)
