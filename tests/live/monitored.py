"""A monitor with all that it needs in memory, on a clock that the test moves."""

from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.live import keys
from orrery.live.budget import StoredBudget
from orrery.live.health import LiveHealth
from orrery.live.monitor import EVERY, CounterMonitor, MonitorResult
from orrery.live.quota import TokenLimits
from orrery.live.records import Active
from orrery.ports.store import Put, Store
from orrery.ports.tracker import TrackerFailed
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.watch import OutageWatch
from tests.support.analytics import MemoryAnalytics
from tests.support.clock import ManualClock
from tests.support.trackers import MemoryTracker, ScriptedCounter

DEGRADED, WELL_AGAIN = "Broken: live counter", "Works again: live counter"
REFUSED = TrackerFailed("GitHub answered 500.")


class Post:
    """A monitor with all that it needs, and what came of it."""

    def __init__(self, store: Store | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.store = store or MemoryStore(self.clock)
        self.counter = ScriptedCounter(self.clock)
        self.tracker = MemoryTracker()
        self.monitor = self.another()
        budget = StoredBudget(
            self.store, self.clock, MemoryAnalytics(), TokenLimits(), timedelta(minutes=1), source="x"
        )
        self.health = LiveHealth(
            self.store, self.clock, MemoryAnalytics(), budget, has_property=True, has_key=True, can_admit=True
        )
        self._watch = OutageWatch(self.store, self.clock, self.health.local)

    def another(self) -> CounterMonitor:
        """Return the monitor of another process on the same store."""
        return CounterMonitor(self.store, self.clock, self.counter, self.tracker)

    async def check(self, *, well: bool) -> MonitorResult:
        """Check once, a quarter of an hour after the last time; visitors' own count is present."""
        self.counter.well = well
        verdict = await self.monitor.check()
        await self.look()
        self.clock.advance(EVERY.total_seconds())
        return verdict

    async def checks(self, pattern: str) -> MonitorResult:
        """Check once a letter: `b` is bad, `g` is good."""
        return [await self.check(well=letter == "g") for letter in pattern][-1]

    async def look(self) -> None:
        """Let the watch see what is wrong."""
        count = Active(active=5, generated_at=self.clock.now())
        await self.store.commit([Put(keys.ACTIVE, count.model_dump_json().encode())])
        await self._watch.notify()

    async def pushes(self) -> list[str]:
        """Return what the owner was told, oldest first."""
        await self.look()
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return [row.title for row in sorted(rows, key=lambda row: row.created_at)]

    async def push(self) -> Notification:
        """Return the one push."""
        (row,) = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return row
