"""A jump of the clock is no outage: the refresher gets its tick before the monitor counts what it saw."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from orrery.adapters.memory import MemoryStore
from orrery.edge.auth import GuessLimiter
from orrery.live.build import LiveDomain, LivePlan
from orrery.live.monitor import EVERY
from orrery.live.routes import PATH
from orrery.live.settings import LiveSettings
from orrery.ports.counter import PublicCount, Scope
from orrery.runtime.jobs import Job
from orrery.runtime.outbox import Outbox
from orrery.runtime.parts import routes_of
from orrery.runtime.tasks import Tasks
from orrery.runtime.watch import EVERY as WATCHED_EVERY
from orrery.runtime.watch import OutageWatch
from orrery.syntax.admin_password import hashed
from tests.live.monitored import DEGRADED, WELL_AGAIN
from tests.support.analytics import MemoryAnalytics, failure
from tests.support.clock import ManualClock, settled
from tests.support.shift import at_work
from tests.support.tables import each_case
from tests.support.trackers import MemoryTracker

PLAN = LivePlan(
    LiveSettings.model_validate({"property_id": "1"}),
    has_key=True,
    source="a property",
    password_hash=hashed(b"open sesame, please"),
)


@dataclass
class OwnReads:
    """The public reads of a service in the same process."""

    live: LiveDomain | None = None

    async def read(self, scope: Scope) -> PublicCount | None:
        """Return what a visitor is told now."""
        assert self.live
        (routes,) = routes_of([self.live.parts()])
        sources = routes.reads[PATH].sources
        answer = await sources[b"realtime=1" if scope == "site" else b"realtime=cosmos"].answer()
        told = json.loads(answer.body)
        count, at = told.get("active", told.get("totalUnique")), told["generated_at"]
        moment = datetime.fromisoformat(at) if at else None
        return PublicCount(count, moment, told["age_s"], stale=told["stale"], error=told.get("error"))


@dataclass
class Station:
    """A counter with its workers, on a clock that the test moves."""

    clock: ManualClock = field(default_factory=ManualClock)
    analytics: MemoryAnalytics = field(default_factory=MemoryAnalytics)
    tracker: MemoryTracker = field(default_factory=MemoryTracker)
    plan: LivePlan = PLAN

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.clock)

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        """Run the service while the block lasts."""
        reads = OwnReads()
        live = LiveDomain(
            self.store,
            self.clock,
            self.analytics,
            reads,
            self.tracker,
            self.plan,
            Tasks(),
            holder="one",
            wrong_passwords=GuessLimiter(self.clock),
        )
        reads.live = live
        watch = OutageWatch(self.store, self.clock, live.health.local)
        look = Job(OutageWatch.JOB, WATCHED_EVERY, watch.notify, everywhere=True)
        async with at_work(self.store, self.clock, [*live.parts().jobs, look]):
            yield

    async def seconds(self, count: int) -> None:
        """Let time pass in steps of ten seconds."""
        for _ in range(0, count, 10):
            await self.jump(10)

    async def jump(self, seconds: float) -> None:
        """Move the clock at once."""
        self.clock.advance(seconds)
        await settled()

    async def pushes(self) -> list[str]:
        """Return what the owner was told, oldest first."""
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return [row.title for row in sorted(rows, key=lambda row: row.created_at)]


@each_case("pause", [10, 70])
@each_case("jump", [11 * 60, 3600, 24 * 3600])
async def test_jumps_of_the_clock(jump: int, pause: int) -> None:
    """However often the clock jumps, and however far, a counter that works is never called degraded."""
    station = Station()
    async with station.at_work():
        await station.seconds(130)
        for _ in range(6):
            await station.jump(jump)
            await station.seconds(pause)
        await station.seconds(40 * 60)
    assert await station.pushes() == []
    assert station.tracker.issues == []


async def test_starts_after_a_standstill() -> None:
    """A service that starts again and again with an old count has refreshed it before the monitor counts."""
    station = Station()
    for _ in range(4):
        async with station.at_work():
            await station.seconds(16 * 60)
        station.clock.advance(3600)
    assert await station.pushes() == []


async def test_an_outage_amid_jumps_is_told_once() -> None:
    """A provider that fails is told once for all that the clock jumps, and once when it is well again."""
    station = Station()
    async with station.at_work():
        await station.seconds(130)
        station.analytics.fails = {None: failure("server", 500), "page": failure("server", 500)}
        for _ in range(3):
            await station.jump(3600)
            await station.seconds(31 * 60)
        assert await station.pushes() == [DEGRADED]
        station.analytics.fails = {}
        await station.seconds(3600)
    assert await station.pushes() == [DEGRADED, WELL_AGAIN]


async def test_an_outage_is_told_in_time() -> None:
    """What is bad at two checks in a row is told with the second, two minutes later at most."""
    station = Station()
    async with station.at_work():
        await station.seconds(130)
        station.analytics.fails = {None: failure("server", 500), "page": failure("server", 500)}
        await station.seconds(int(2 * EVERY.total_seconds()) + 600 + 130)
    assert await station.pushes() == [DEGRADED]


async def test_a_missing_key_is_one_push() -> None:
    """Without its key the counter is degraded, as the issue says; the owner hears of the key alone."""
    station = Station(plan=replace(PLAN, has_key=False))
    async with station.at_work():
        await station.seconds(3600)
    assert len(station.tracker.open_issues) == 1
    assert await station.pushes() == ["Broken: analytics key"]
