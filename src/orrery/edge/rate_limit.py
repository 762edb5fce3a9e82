"""Sliding-window rate limits: of one node, in memory, or of all (decision 14; docs/decisions/0044, 0094)."""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from orrery.edge.problem import Problem
from orrery.ports.clock import Clock

_SCOPES = 50_000


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` in any `seconds`."""

    count: int
    seconds: float


class RateLimit:
    """Counts the requests of each scope; the scopes that were seen longest ago are dropped first.

    A scope that contains others, such as a network, may have `wider` times as many.
    """

    def __init__(self, clock: Clock, *limits: Limit, wider: int = 1) -> None:
        self._clock = clock
        self._limits = limits
        self._wider = [Limit(limit.count * wider, limit.seconds) for limit in limits]
        self._longest = max(limit.seconds for limit in limits)
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()

    @property
    def scopes(self) -> int:
        """Return how many scopes are remembered."""
        return len(self._seen)

    def wait(self, scope: str, *containing: str) -> int:
        """Count one more in every scope and return 0, or return the whole seconds after which it may come again.

        What one scope refuses is counted in none, and a scope without a counted request takes no memory.
        """
        now = self._clock.monotonic()
        all_times = {one: self._times(one, now) for one in (scope, *containing)}
        if longest := self.longest_wait([*all_times.values()], now):
            return longest
        for one, times in all_times.items():
            times.append(now)
            self._seen[one] = times
        self._forget(now)
        return 0

    def longest_wait(self, all_times: Sequence[Sequence[float]], now: float = 0.0) -> int:
        """Return how long a scope must wait, by the times of what it let through, and then of what contains it."""
        own, *containing = all_times
        waits = [_wait(own, limit, now) for limit in self._limits]
        waits += [_wait(times, limit, now) for times in containing for limit in self._wider]
        return ceil(max(0, *waits))

    def take_back(self, *scopes: str) -> None:
        """Count the last one of each scope no more: it was not let through after all."""
        for times in (self._seen.get(one) for one in scopes):
            if times:
                _ = times.pop()

    def _times(self, scope: str, now: float) -> deque[float]:
        times = self._seen.get(scope)
        if times is None:
            return deque()
        self._seen.move_to_end(scope)
        while times and times[0] <= now - self._longest:
            _ = times.popleft()
        return times

    def _forget(self, now: float) -> None:
        """Drop the scopes whose windows are over, and the oldest beyond `_SCOPES`."""
        while len(self._seen) > _SCOPES or self._is_over(next(iter(self._seen.values())), now):
            _ = self._seen.popitem(last=False)

    def _is_over(self, times: deque[float], now: float) -> bool:
        return not times or times[-1] <= now - self._longest


class SharedCount(Protocol):
    """Counts what is let through at all nodes."""

    async def add(
        self, scopes: Sequence[str], wait: Callable[[Sequence[Sequence[float]]], int]
    ) -> tuple[int, int]:
        """Count one more in every scope, unless `wait` of their times, in seconds from now, is above 0.

        Returns that wait, and how many the first scope counts then. Raises the store's errors.
        """
        ...


class SharedLimit:
    """A limit that all nodes keep together. What a node refuses by its own count asks the others nothing."""

    def __init__(self, own: RateLimit, shared: SharedCount) -> None:
        self._own = own
        self._shared = shared

    async def wait(self, *scopes: str) -> int:
        """Do what `RateLimit.wait` does, over all nodes; raise the store's errors."""
        if wait := self._own.wait(*scopes):
            return wait
        wait, _ = await self._shared.add(scopes, self._own.longest_wait)
        if wait:
            self._own.take_back(*scopes)
        return wait


def too_many(wait: int, sentence: str = "Try again in {wait} s.") -> Problem:
    """Return the refusal of a request that may come again after `wait` seconds."""
    return Problem(429, "too-many-requests", sentence.format(wait=wait), {"Retry-After": str(wait)})


def _wait(times: Sequence[float], limit: Limit, now: float) -> float:
    if len(times) < limit.count:
        return 0
    return times[-limit.count] + limit.seconds - now
