"""Sliding-window rate limits, kept in memory (decision 14; docs/decisions/0006)."""

from collections import OrderedDict, deque
from dataclasses import dataclass
from math import ceil

from orrery.ports.clock import Clock

_SCOPES = 50_000


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` in any `seconds`."""

    count: int
    seconds: float


class RateLimit:
    """Counts the requests of each scope; the scopes that were seen longest ago are dropped first."""

    def __init__(self, clock: Clock, *limits: Limit) -> None:
        self._clock = clock
        self._limits = limits
        self._longest = max(limit.seconds for limit in limits)
        self._most = max(limit.count for limit in limits)
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, scope: str) -> int:
        """Count one more and return 0, or return the whole seconds after which it may come again."""
        now = self._clock.monotonic()
        times = self._times(scope, now)
        if waits := [wait for limit in self._limits if (wait := _wait(times, limit, now)) > 0]:
            return ceil(max(waits))
        times.append(now)
        return 0

    def _times(self, scope: str, now: float) -> deque[float]:
        times = self._seen.setdefault(scope, deque(maxlen=self._most))
        self._seen.move_to_end(scope)
        while times and times[0] <= now - self._longest:
            _ = times.popleft()
        while len(self._seen) > _SCOPES:
            _ = self._seen.popitem(last=False)
        return times


def _wait(times: deque[float], limit: Limit, now: float) -> float:
    if len(times) < limit.count:
        return 0
    return times[-limit.count] + limit.seconds - now
