"""A clock that stands still until a test moves it."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

from anyio.lowlevel import checkpoint

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


class ManualClock:
    """Time moves with `advance` only, and wakes the sleepers whose time has come."""

    def __init__(self, now: datetime = START) -> None:
        self._start = now
        self._passed = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []

    @property
    def sleepers(self) -> int:
        """How many tasks wait: what a test waits for before it moves the time."""
        return len(self._sleepers)

    def now(self) -> datetime:
        """Return the time that the test has set."""
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by `seconds`."""
        if seconds <= 0:
            await checkpoint()
            return
        sleeper = (self._passed + seconds, next(self._order), asyncio.Event())
        heapq.heappush(self._sleepers, sleeper)
        try:
            await sleeper[2].wait()
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    def advance(self, seconds: float) -> None:
        """Move the time forward and wake, in order, everything due (call it on the event loop's thread)."""
        self._passed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._passed:
            heapq.heappop(self._sleepers)[2].set()


class WallClock(ManualClock):
    """A clock whose wall time can be put forward or back while its monotonic time goes on."""

    def put(self, by: timedelta) -> None:
        """Move the wall time only, as an owner or a time service does: it wakes nobody."""
        self._start += by


async def settled() -> None:
    """Let every task go on until all that is left is waiting."""
    for _ in range(100):
        await checkpoint()
