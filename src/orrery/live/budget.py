"""The quota budget as it is kept in the store, shared by every process and every kind of call (decision 24)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from orrery.errors import AnalyticsFailed, Cause, NotConfigured
from orrery.live import keys, quota
from orrery.live.quota import Limits, Plan, Query
from orrery.live.records import read
from orrery.ports.analytics import Analytics, By, Report
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Check, Committed, Put, Store, Unchanged

DEADLINE = 10.0
"""Seconds for one query (issue item 3)."""


QUOTA, NO_KEY, REFUSED, UNREACHABLE = (
    "quota-exhausted",
    "no-provider-auth",
    "provider-refused",
    "provider-unreachable",
)
"""The errors of a refresh: the first two of spec 2, Errors; the others where it is silent."""


class Budget:
    """Plans, charges and corrects; every call to the provider goes through `ask`."""

    def __init__(
        self, store: Store, clock: Clock, analytics: Analytics, limits: Limits, interval: timedelta
    ) -> None:
        self._store = store
        self._clock = clock
        self._analytics = analytics
        self._limits = limits
        self._interval = interval
        self._has_no_key = False

    async def plan(self, queries: Sequence[Query]) -> Plan:
        """Return which of `queries` this tick may ask."""
        budget, _ = await self._read()
        return quota.plan(budget, self._limits, self._clock.now(), queries, self._interval)

    async def refuses(self, query: Query) -> quota.Reason | None:
        """Return why a read of the owner's may not be made now, or None."""
        budget, _ = await self._read()
        return quota.may_read(budget, self._limits, self._clock.now(), query, self._interval)

    async def charge(self, queries: Sequence[Query]) -> None:
        """Take the expected cost before the calls, so that a kill in between forgets nothing."""
        if not self._has_no_key:
            await self._change(lambda budget: quota.charged(budget, self._limits, queries, self._clock.now()))

    async def ask(self, query: Query, by: By | None, limit: int | None) -> Report:
        """Ask the provider, note what it costs or why it failed, and return the report.

        Raises `AnalyticsFailed`, `NotConfigured` or `StoreError`.
        """
        try:
            report = await self._analytics.active_users(by, limit=limit, deadline=DEADLINE)
        except AnalyticsFailed as error:
            cause = error.cause
            await self._change(lambda budget: quota.failed(budget, self._limits, query, cause, self._clock.now()))
            raise
        except NotConfigured:
            # Nothing was sent, and nothing will be before a restart: it costs nothing, and stops no process that
            # has a key.
            self._has_no_key = True
            raise
        await self._change(
            lambda budget: quota.reported(budget, self._limits, query, report.quotas, self._clock.now())
        )
        return report

    async def _read(self) -> tuple[quota.Budget, Check]:
        entry = await self._store.get(keys.BUDGET)
        found = read(quota.Budget, entry.value if entry else None)
        budget = found or quota.Budget.new(self._limits, self._clock.now())
        return budget, Unchanged(keys.BUDGET, entry.version) if entry else Absent(keys.BUDGET)

    async def _change(self, change: Callable[[quota.Budget], quota.Budget]) -> None:
        while True:
            budget, check = await self._read()
            value = change(budget).model_dump_json().encode()
            if isinstance(await self._store.commit([Put(keys.BUDGET, value)], [check]), Committed):
                return


_TAGS: Mapping[Cause | quota.Reason, str] = {
    "pacing": QUOTA,
    "concurrent": QUOTA,
    "hour": QUOTA,
    "day": QUOTA,
    "thresholded": QUOTA,
    "unauthorized": REFUSED,
    "forbidden": REFUSED,
    "refused": REFUSED,
}


def tag_of(cause: Cause | quota.Reason) -> str:
    """Return the error value for what the provider said, or for why it is not asked now (spec 2, Errors)."""
    return _TAGS.get(cause, UNREACHABLE)
