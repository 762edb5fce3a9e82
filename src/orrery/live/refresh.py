"""The one writer of the shared cache (spec 2, Refresh behaviour; decisions 20, 21, 24 to 26)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.errors import NotConfigured, OrreryError, StoreError
from orrery.live.answers import current_count
from orrery.live.budget import DEADLINE, QUOTA, UNREACHABLE, StoredBudget, tag_of
from orrery.live.metrics import TOTAL, Metric
from orrery.live.plan import TickPlan
from orrery.live.reads import FirstLevelCache, cached_counts, last_error, last_outcome, read, snapshot_in
from orrery.live.records import LastError, Pages, RefreshOutcome
from orrery.logs import log
from orrery.ports.analytics import AnalyticsFailed
from orrery.ports.clock import Clock
from orrery.ports.store import Committed, Delete, Store, Write
from orrery.record import Record
from orrery.runtime.collection import Changes, commit
from orrery.runtime.fence import Fence
from orrery.runtime.lease import Lease
from orrery.runtime.single_flight import SingleFlight
from orrery.runtime.tasks import Tasks, together

TERM = timedelta(seconds=3 * DEADLINE)
"""How long a refresher that was killed keeps the others from its work; longer than a refresh may take."""

PATIENCE = 5.0
"""Seconds to wait for another process that is refreshing, so that every caller still gets an answer."""

POLL_SECONDS = 0.1
"""Seconds between two reads while another process finishes its refresh."""

QueryOutcomes = Mapping[str, Record | OrreryError]
"""The outcome of each query, by its name."""


@dataclass(frozen=True, slots=True)
class _Term:
    """One refresh: the interval it is for, when it began, and the fence of the lease that it writes under."""

    window: int
    began: datetime
    fence: Fence


class Refresh:
    """Asks the provider at most once an interval, however many callers request a refresh."""

    def __init__(  # noqa: PLR0913  the one writer names everything that it uses
        self,
        store: Store,
        clock: Clock,
        budget: StoredBudget,
        cache: FirstLevelCache,
        metrics: Sequence[Metric],
        tasks: Tasks,
        *,
        interval: timedelta,
        holder: str,
    ) -> None:
        self._store = store
        self._clock = clock
        self._budget = budget
        self._cache = cache
        self._metrics = metrics
        self._interval = interval
        self._last_error = last_error(store, clock)
        self._last_outcome = last_outcome(store, clock)
        self._lease = Lease(store, clock, "live refresh", holder, TERM)
        self._flight = SingleFlight(tasks, self._refresh)

    async def run(self) -> RefreshOutcome:
        """Refresh, or return the outcome of this interval's refresh; raise `StoreError` or `NotConfigured`.

        Any number of callers at once cause one refresh and get its outcome.
        """
        return await self._flight.join()

    async def _refresh(self) -> RefreshOutcome:
        try:
            return await self._done() or await self._take_turns()
        finally:
            await self._cache.reload()

    async def _take_turns(self) -> RefreshOutcome:
        """Do the work, or wait for the process that is doing it."""
        patience = self._clock.monotonic() + PATIENCE
        while self._clock.monotonic() < patience:
            # Between the read above and the lease, another process may have finished and released the lease.
            if fence := await self._lease.take():
                return await self._done_or_filled(fence)
            if done := await self._done():
                return done
            await self._clock.sleep(POLL_SECONDS)
        return await self._newest("Another process is refreshing and has not finished.")

    async def _done_or_filled(self, fence: Fence) -> RefreshOutcome:
        """Return another process's outcome, or fill the cache; release the lease in every case."""
        try:
            if not (done := await self._done()):
                return await self._fill(_Term(self._window(), self._clock.now(), fence))
        except BaseException:
            with suppress(StoreError):
                await self._lease.give_up()
            raise
        await self._lease.give_up()
        return done

    async def _fill(self, term: _Term) -> RefreshOutcome:
        by_name = {metric.name: metric for metric in self._metrics}
        plan = await self._budget.plan(list(by_name))
        await self._budget.charge(plan.run)
        settled = await self._settle([by_name[name] for name in plan.run], term.began)
        if not_configured := next((one for one in settled.values() if isinstance(one, NotConfigured)), None):
            # After another process has taken over, this is not stored: what that process wrote is newer.
            _ = await self._write(term, self._errors(settled, term.began), None)
            raise not_configured
        outcome = self._outcome(settled, term) if TOTAL in settled else await self._put_off(term, plan)
        writes = [*self._values(settled), *self._errors(settled, term.began)]
        if await self._write(term, writes, outcome):
            return outcome
        # This process slept while another took over: the other's records are newer, and stay.
        log.warning("live refresh overtaken")
        return await self._done() or await self._newest("Another process has taken over.")

    async def _settle(self, asked: Sequence[Metric], at: datetime) -> QueryOutcomes:
        """Ask for all at once; the failure of one is nothing to the others (spec 2, Refresh 1 and 2)."""
        results = await together(*(self._ask(metric, at) for metric in asked))
        return {metric.name: result for metric, result in zip(asked, results, strict=True)}

    async def _ask(self, metric: Metric, at: datetime) -> Record | OrreryError:
        try:
            report = await self._budget.ask(metric.name, metric.by, metric.limit)
        except (AnalyticsFailed, NotConfigured) as error:
            log.warning("live query failed", query=metric.name, why=str(error))
            return error
        try:
            return metric.value(report, at)
        except ValueError as error:
            log.warning("live query cannot be stored", query=metric.name, kind=type(error).__name__)
            return AnalyticsFailed("The analytics provider's answer is not a report.", cause="not-a-report")

    def _values(self, settled: QueryOutcomes) -> list[Write]:
        found = ((metric, settled.get(metric.name)) for metric in self._metrics)
        return [
            cached_counts(self._store, self._clock, Record, metric.key).put(value)
            for metric, value in found
            if isinstance(value, Record)
        ]

    def _errors(self, settled: QueryOutcomes, at: datetime) -> list[Write]:
        """Return the write of the first failure, the total's before others; none when all went well."""
        failed = [(name, one) for name, one in settled.items() if isinstance(one, OrreryError)]
        if not failed:
            return []
        name, error = failed[0]
        status = error.status if isinstance(error, AnalyticsFailed) else None
        found = LastError(message=str(error), status=status, attempted_at=at, failed_query=name)
        return [self._last_error.put(found)]

    def _outcome(self, settled: QueryOutcomes, term: _Term) -> RefreshOutcome:
        total, pages = settled[TOTAL], settled.get("pages")
        if isinstance(total, AnalyticsFailed):
            return RefreshOutcome(window=term.window, ok=False, error=tag_of(total.cause), message=str(total))
        return RefreshOutcome(
            window=term.window,
            ok=True,
            active=getattr(total, "active", None),
            pages_count=len(pages.pages) if isinstance(pages, Pages) else None,
            generated_at=term.began,
        )

    async def _put_off(self, term: _Term, plan: TickPlan) -> RefreshOutcome:
        """Return the outcome of a refresh that may not query the total now, to save the quota or to back off."""
        reason = plan.skipped[TOTAL]
        message = "The quota or an earlier refusal does not allow a query now; it is tried again."
        if reason == "pacing":
            return (await self._newest(message, QUOTA)).change(window=term.window)
        return RefreshOutcome(window=term.window, ok=False, error=tag_of(reason), message=message)

    async def _newest(self, message: str, error: str = UNREACHABLE) -> RefreshOutcome:
        """Return the newest count there is, as a success while it is fresh."""
        now = self._clock.now()
        newest = current_count(await snapshot_in(self._store, self._clock), now)
        if newest.state == "fresh":
            return RefreshOutcome(
                window=self._window(), ok=True, active=newest.count, generated_at=newest.generated_at
            )
        return RefreshOutcome(window=self._window(), ok=False, error=error, message=message)

    async def _write(self, term: _Term, writes: Sequence[Write], outcome: RefreshOutcome | None) -> bool:
        """Write everything and release the lease in one commit, unless another process has taken it since."""
        outcomes = [self._last_outcome.put(outcome)] if outcome else []
        release = Changes([Delete(term.fence.key)], [term.fence.check])
        committed = await commit(self._store, Changes([*writes, *outcomes]) + release)
        return isinstance(committed, Committed)

    async def _done(self) -> RefreshOutcome | None:
        """Return the outcome of this interval's refresh, if there was one."""
        outcome = await read(self._last_outcome)
        # Another's clock may be a little ahead of ours.
        return outcome if outcome and outcome.window - self._window() in {0, 1} else None

    def _window(self) -> int:
        return int(self._clock.now().timestamp() // self._interval.total_seconds())
