"""The admin's reads, the only ones that ask the provider directly (spec 2, What it does 6; decisions 20, 23)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from orrery.live.answers import CurrentCount, current_count
from orrery.live.budget import StoredBudget, tag_of
from orrery.live.freshness import TOO_OLD_ABOVE, age, freshness
from orrery.live.reads import snapshot_in
from orrery.ports.analytics import AnalyticsFailed, By, ReportRow, UserReport
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.single_flight import SingleFlight
from orrery.runtime.tasks import Tasks

KEEP_GUIDED = timedelta(minutes=5)
"""Spec 2, What the service does 6: the guided product's read is kept for 5 minutes in the process."""

PLANETS_AT_MOST = 100


Intel = tuple[CurrentCount, Sequence[ReportRow] | None]
"""The family's count, and its breakdown by planet: None when the provider could not be asked."""


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

    async def intel(self) -> Intel:
        """Return the count and the breakdown by planet; raise `NotConfigured` or `StoreError`."""
        return await self._intel.join()

    async def guided(self) -> CurrentCount:
        """Return the guided product's count, at most 5 minutes old, with why it is not newer or is missing."""
        return await self._guided.join()

    async def _read_intel(self) -> Intel:
        total = await self._total()
        try:
            return total, (await self._ask("planets", "planet", PLANETS_AT_MOST)).rows
        except _RefusedError as refused:
            return replace(total, error=total.error or refused.tag), None

    async def _total(self) -> CurrentCount:
        """Return the cache's count when it is fresh, else that of one direct query (decision 23)."""
        now = self._clock.now()
        cached = current_count(await snapshot_in(self._store, self._clock), now)
        if cached.state == "fresh":
            return cached
        try:
            report = await self._ask("intel total")
        except _RefusedError as refused:
            return replace(cached, error=refused.tag)
        return self._counted(report.total, now, timedelta(0))

    async def _read_guided(self) -> CurrentCount:
        now = self._clock.now()
        found = self._held_age(now)
        if self._held and found is not None and found < KEEP_GUIDED:
            return self._counted(*self._held, found)
        try:
            self._held = (await self._ask("guided")).total, now
        except _RefusedError as refused:
            if self._held and found is not None and found <= TOO_OLD_ABOVE:
                return self._counted(*self._held, found, refused.tag)
            return CurrentCount(0, None, None, None, "empty", refused.tag)
        return self._counted(*self._held, timedelta(0))

    def _counted(self, count: int, at: datetime, found: timedelta, error: str | None = None) -> CurrentCount:
        return CurrentCount(count, self._minutes, at, found, freshness(found), error)

    def _held_age(self, now: datetime) -> timedelta | None:
        return age(self._held[1], now) if self._held else None

    async def _ask(self, query: str, by: By | None = None, limit: int | None = None) -> UserReport:
        if reason := await self._budget.refuses(query):
            raise _RefusedError(tag_of(reason))
        await self._budget.charge([query])
        try:
            return await self._budget.ask(query, by, limit)
        except AnalyticsFailed as error:
            raise _RefusedError(tag_of(error.cause)) from error
