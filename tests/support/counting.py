"""The counter's services over a store in memory and a provider in memory, on a clock that the test moves."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from orrery.adapters.memory import MemoryStore
from orrery.live import keys
from orrery.live.admin_reads import AdminReads
from orrery.live.budget import StoredBudget
from orrery.live.metrics import metrics
from orrery.live.quota import TokenLimits
from orrery.live.reads import FirstLevelCache
from orrery.live.refresh import Refresh
from orrery.ports.store import Store
from orrery.runtime.tasks import Tasks
from tests.support.analytics import MemoryAnalytics
from tests.support.clock import ManualClock

PATHS = {"Shop": "/shop"}


@dataclass
class Counting:
    """One process that counts; `beside` is another one on the same store and with the same provider."""

    clock: ManualClock = field(default_factory=ManualClock)
    analytics: MemoryAnalytics = field(default_factory=MemoryAnalytics)
    store: Store | None = None
    holder: str = "one"
    limits: TokenLimits = field(default_factory=TokenLimits)
    interval: timedelta = timedelta(seconds=60)
    source: str = "a property"

    def __post_init__(self) -> None:
        self.kept: Store = self.store or MemoryStore(self.clock)
        self.tasks = Tasks()
        self.budget = StoredBudget(
            self.kept, self.clock, self.analytics, self.limits, self.interval, source=self.source
        )
        self.cache = FirstLevelCache(self.kept, self.clock)
        self.refresh = Refresh(
            self.kept,
            self.clock,
            self.budget,
            self.cache,
            metrics(PATHS, 30),
            self.tasks,
            interval=self.interval,
            holder=self.holder,
        )
        self.owners = AdminReads(self.kept, self.clock, self.budget, self.tasks, 30)

    def beside(self, holder: str = "two") -> "Counting":
        """Return another process."""
        return Counting(self.clock, self.analytics, self.kept, holder, self.limits, self.interval, self.source)

    async def stored(self, key: str = keys.ACTIVE) -> dict[str, Any] | None:
        """Return what is stored under a key."""
        entry = await self.kept.get(key)
        return json.loads(entry.value) if entry else None

    @property
    def calls(self) -> int:
        """How often the provider was asked."""
        return self.analytics.calls.total()
