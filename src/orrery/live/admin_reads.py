"""The admin's reads, the only ones that ask the provider directly (spec 2, What it does 6; decisions 20, 23)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.live.answers import CurrentCount, current_count
from orrery.live.budget import StoredBudget, tag_of
from orrery.live.freshness import TOO_OLD_ABOVE, age
from orrery.live.reads import snapshot_in
from orrery.ports.analytics import AnalyticsFailed, By, Report, ReportRow
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.single_flight import SingleFlight
from orrery.runtime.tasks import Tasks

KEEP_GUIDED = timedelta(minutes=5)
"""Spec 2, What the service does 6: the guided product's read is kept for 5 minutes in the process."""

PLANETS_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class IntelCount:
    """The family's count, and its breakdown. `planets` is None when the provider could not be asked."""

    total: CurrentCount
    planets: Sequence[ReportRow] | None
    error: str | None


@dataclass(frozen=True, slots=True)
class GuidedCount:
    """The guided product's count of `generated_at`; `error` says why it is not newer."""

    window_minutes: int
    active: int
    generated_at: datetime
    age: timedelta
    error: str | None


class _RefusedError(Exception):
    """The provider cannot be asked now; `tag` is the error value for it."""

    def __init__(self, tag: str) -> None:
        super().__init__(tag)
        self.tag = tag


class AdminReads:
    """Direct reads within the quota; callers at the same time share one."""

    def __init__(
        self, store: Store, clock: Clock, budget: StoredBudget, tasks: Tasks, window_minutes: int
    ) -> None:
        """`window_minutes`: the time over which the provider counts."""
        self._store = store
        self._clock = clock
        self._budget = budget
        self._minutes = window_minutes
        self._intel = SingleFlight(tasks, self._read_intel)
        self._guided = SingleFlight(tasks, self._read_guided)
        self._held: tuple[int, datetime] | None = None

    async def intel(self) -> IntelCount:
        """Return the count and the breakdown by planet; raise `NotConfigured` or `StoreError`."""
        return await self._intel.join()

    async def guided(self) -> GuidedCount | str:
        """Return the guided product's count, at most 5 minutes old, or the error value if there is none."""
        return await self._guided.join()

    async def _read_intel(self) -> IntelCount:
        total, error = await self._total()
        try:
            return IntelCount(total, (await self._ask("planets", "planet", PLANETS_AT_MOST)).rows, error)
        except _RefusedError as refused:
            return IntelCount(total, None, error or refused.tag)

    async def _total(self) -> tuple[CurrentCount, str | None]:
        """Return the cache's count when it is fresh, else that of one direct query (decision 23)."""
        now = self._clock.now()
        cached = current_count(await snapshot_in(self._store, self._clock), now)
        if cached.state == "fresh":
            return cached, None
        try:
            report = await self._ask("intel total")
        except _RefusedError as refused:
            return cached, refused.tag
        return CurrentCount(report.total, self._minutes, now, timedelta(0), "fresh", None), None

    async def _read_guided(self) -> GuidedCount | str:
        now = self._clock.now()
        found = self._held_age(now)
        if self._held and found is not None and found < KEEP_GUIDED:
            return GuidedCount(self._minutes, *self._held, found, None)
        try:
            self._held = (await self._ask("guided")).total, now
        except _RefusedError as refused:
            if self._held and found is not None and found <= TOO_OLD_ABOVE:
                return GuidedCount(self._minutes, *self._held, found, refused.tag)
            return refused.tag
        return GuidedCount(self._minutes, *self._held, timedelta(0), None)

    def _held_age(self, now: datetime) -> timedelta | None:
        return age(self._held[1], now) if self._held else None

    async def _ask(self, query: str, by: By | None = None, limit: int | None = None) -> Report:
        if reason := await self._budget.refuses(query):
            raise _RefusedError(tag_of(reason))
        await self._budget.charge([query])
        try:
            return await self._budget.ask(query, by, limit)
        except AnalyticsFailed as error:
            raise _RefusedError(tag_of(error.cause)) from error
