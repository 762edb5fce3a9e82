"""The quota budget in the store, which all processes and all kinds of calls share (decision 24)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import structlog

from orrery.errors import AnalyticsFailed, Cause, NotConfigured, StoreError
from orrery.live import keys, quota
from orrery.live.backoff import TOTAL, Query, Reason
from orrery.live.quota import Limits, TickPlan
from orrery.ports.analytics import Analytics, By, Report
from orrery.ports.clock import Clock
from orrery.ports.store import Check, Committed, Conflict, Store
from orrery.runtime.collection import Changes, Collection, commit, compare_and_set

DEADLINE = 10.0
"""Seconds for one query."""

log = structlog.get_logger()

QUOTA, NO_KEY, REFUSED, UNREACHABLE = (
    "quota-exhausted",
    "no-provider-auth",
    "provider-refused",
    "provider-unreachable",
)
"""The errors of a refresh: the first two of spec 2, Errors; the others where it is silent."""


class StoredBudget:
    """Plans, charges and corrects; every call to the provider goes through `ask`.

    `source` identifies the property and the account: with another one a new budget begins.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        analytics: Analytics,
        limits: Limits,
        interval: timedelta,
        *,
        source: str,
    ) -> None:
        self._store = store
        self._clock = clock
        self._stored = Collection(store, clock, quota.Budget, keys.BUDGET, derived=True)
        self._analytics = analytics
        self._limits = limits
        self._interval = interval
        self._source = source
        self._starting = True
        self._has_no_key = False

    async def plan(self, queries: Sequence[Query]) -> TickPlan:
        """Return which of `queries` this tick may ask."""
        budget, _ = await self._read()
        now, starting = self._clock.now(), self._starting
        plan = quota.plan(budget, self._limits, now, queries, self._interval, starting=starting)
        self._starting = starting and TOTAL not in plan.run
        return plan

    async def refuses(self, query: Query) -> Reason | None:
        """Return why a read of the owner's may not be made now, or None."""
        budget, _ = await self._read()
        return quota.may_read(budget, self._limits, self._clock.now(), query, self._interval)

    async def left(self) -> tuple[int, int]:
        """Return the tokens that are left for this hour and for this day."""
        budget, _ = await self._read()
        return quota.left(budget, self._limits, self._clock.now())

    async def charge(self, queries: Sequence[Query]) -> None:
        """Take the expected cost before the calls, so that a kill in between forgets nothing."""
        if not self._has_no_key:
            await self._change(lambda budget: quota.charged(budget, self._limits, queries, self._clock.now()))

    async def ask(self, query: Query, by: By | None, limit: int | None) -> Report:
        """Ask the provider, note the cost or the failure, and return the report.

        Raises `AnalyticsFailed` or `NotConfigured`.
        """
        try:
            report = await self._analytics.active_users(by, limit=limit, deadline=DEADLINE)
        except AnalyticsFailed as error:
            cause = error.cause
            await self._note(lambda budget: quota.failed(budget, self._limits, query, cause, self._clock.now()))
            raise
        except NotConfigured:
            # Nothing was sent, and nothing will be before a restart: it costs nothing, and stops no process that
            # has a key.
            self._has_no_key = True
            raise
        await self._note(
            lambda budget: quota.reported(budget, self._limits, query, report.quotas, self._clock.now())
        )
        return report

    async def _read(self) -> tuple[quota.Budget, Check]:
        found, unchanged = await self._stored.replaceable()
        if found is None or found.source != self._source:
            found = quota.Budget.new(self._limits, self._clock.now(), self._source)
        return found, unchanged

    async def _note(self, change: Callable[[quota.Budget], quota.Budget]) -> None:
        """Change the budget; an error of the store is only logged: the provider's answer matters more."""
        try:
            await self._change(change)
        except StoreError as error:
            log.warning("live quota not noted", why=str(error))

    async def _change(self, change: Callable[[quota.Budget], quota.Budget]) -> None:
        async def attempt() -> Committed | Conflict:
            budget, unchanged = await self._read()
            return await commit(self._store, Changes([self._stored.put(change(budget))], [unchanged]))

        _ = await compare_and_set(attempt, "The quota budget changes all the time; nothing was written.")


_TAGS: Mapping[Cause | Reason, str] = {
    "pacing": QUOTA,
    "concurrent": QUOTA,
    "hour": QUOTA,
    "day": QUOTA,
    "thresholded": QUOTA,
    "unauthorized": REFUSED,
    "forbidden": REFUSED,
    "refused": REFUSED,
}


def tag_of(cause: Cause | Reason) -> str:
    """Return the error value for the provider's failure, or for the reason of a wait (spec 2, Errors)."""
    return _TAGS.get(cause, UNREACHABLE)
