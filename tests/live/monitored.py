"""A monitor with all that it needs in memory, on a clock that the test moves."""

from orrery.adapters.memory import MemoryStore
from orrery.live.monitor import EVERY, CounterMonitor, MonitorResult
from orrery.ports.store import Store
from orrery.ports.tracker import TrackerFailed
from orrery.runtime.outbox import Notification, Outbox
from tests.support.clock import ManualClock
from tests.support.trackers import MemoryTracker, ScriptedCounter

DEGRADED, WELL_AGAIN = "The live counter is degraded", "The live counter is well again"
REFUSED = TrackerFailed("GitHub answered 500.")


class Post:
    """A monitor with all that it needs, and what came of it."""

    def __init__(self, store: Store | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.store = store or MemoryStore(self.clock)
        self.counter = ScriptedCounter(self.clock)
        self.tracker = MemoryTracker()
        self.monitor = self.another()

    def another(self) -> CounterMonitor:
        """Return the monitor of another process on the same store."""
        return CounterMonitor(self.store, self.clock, self.counter, self.tracker)

    async def check(self, *, well: bool) -> MonitorResult:
        """Check once, a quarter of an hour after the last time."""
        self.counter.well = well
        verdict = await self.monitor.check()
        self.clock.advance(EVERY.total_seconds())
        return verdict

    async def checks(self, pattern: str) -> MonitorResult:
        """Check once a letter: `b` is bad, `g` is good."""
        return [await self.check(well=letter == "g") for letter in pattern][-1]

    async def pushes(self) -> list[str]:
        """Return what the owner was told, oldest first."""
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return [row.title for row in sorted(rows, key=lambda row: row.created_at)]

    async def push(self) -> Notification:
        """Return the one push."""
        (row,) = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return row
