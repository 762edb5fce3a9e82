"""The quota budget in the store, which all processes and all kinds of calls share (decision 24)."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from orrery.errors import NotConfigured, StoreError
from orrery.live import keys
from orrery.live.plan import Reason, TickPlan, may_read, plan
from orrery.live.quota import PAUSES, TOTAL, Query, QuotaBudget, TokenLimits
from orrery.logs import log
from orrery.ports.analytics import Analytics, AnalyticsFailed, By, Cause, UserReport
from orrery.ports.clock import Clock
from orrery.ports.store import Check, Committed, Conflict, Delete, Store
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit, compare_and_set
from orrery.runtime.raw_values import RawValues

DEADLINE = 10.0
"""Seconds for one query."""


QUOTA, NO_KEY, REFUSED, UNREACHABLE = (
    "quota-exhausted",
    "no-provider-auth",
    "provider-refused",
    "provider-unreachable",
)
"""The errors of a refresh: the first two of spec 2, Errors; the others where it is silent."""


_Change = Callable[[QuotaBudget, datetime], QuotaBudget]
"""Returns the budget after something happened at that time."""


class StoredBudget:
    """Plans, charges and corrects; every call to the provider goes through `ask`.

    `source` identifies the property and the account: with another one a new budget begins.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        analytics: Analytics,
        limits: TokenLimits,
        interval: timedelta,
        *,
        source: str,
    ) -> None:
        self._store = store
        self._clock = clock
        self._stored = Collection(store, clock, QuotaBudget, keys.QUOTA, derived=True, life=FOR_EVER)
        self._analytics = analytics
        self._limits = limits
        self._interval = interval
        self._source = source
        self._starting = True
        self._has_no_key = False

    async def plan(self, queries: Sequence[Query]) -> TickPlan:
        """Return which of `queries` this tick may ask."""
        budget, _ = await self._read()
        now = self._clock.now()
        planned = plan(budget.restarted(now) if self._starting else budget, now, queries, self._interval)
        self._starting = self._starting and TOTAL not in planned.run
        return planned

    async def refuses(self, query: Query) -> Reason | None:
        """Return why a read of the owner's may not be made now, or None."""
        budget, _ = await self._read()
        return may_read(budget, self._clock.now(), query, self._interval)

    async def left(self) -> tuple[int, int]:
        """Return the tokens that are left for this hour and for this day."""
        budget, _ = await self._read()
        return budget.hour.remaining, budget.day.remaining

    async def charge(self, queries: Sequence[Query]) -> None:
        """Take the expected cost before the calls, so that a kill in between forgets nothing."""
        if not self._has_no_key:
            await self._change(lambda budget, now: budget.charged(queries, now))

    async def ask(self, query: Query, by: By | None, limit: int | None) -> UserReport:
        """Ask the provider, note the cost or the failure, and return the report.

        Raises `AnalyticsFailed` or `NotConfigured`.
        """
        try:
            report = await self._analytics.active_users(by, limit=limit, deadline=DEADLINE)
        except AnalyticsFailed as error:
            cause = error.cause
            await self._note(lambda budget, now: budget.failed(query, cause, now))
            raise
        except NotConfigured:
            # Nothing was sent, and nothing will be before a restart: it costs nothing, and stops no process that
            # has a key.
            self._has_no_key = True
            raise
        await self._note(lambda budget, now: budget.reported(query, report.quotas, now))
        return report

    async def forget_earlier(self) -> None:
        """Delete what earlier releases knew, in another shape: the first report puts a new budget right."""
        # Each command opens the store: it must not write, since a disk may be full.
        if await RawValues(self._store, keys.OLD_BUDGET, FOR_EVER).get("") is not None:
            _ = await commit(self._store, Changes([Delete(keys.OLD_BUDGET)]))

    async def _read(self) -> tuple[QuotaBudget, Check]:
        """Return the budget of now, and the check that it is still the stored one."""
        found, unchanged = await self._stored.replaceable()
        now = self._clock.now()
        if found is None or found.source != self._source:
            return QuotaBudget.new(self._limits, now, self._source), unchanged
        return found.at(now), unchanged

    async def _note(self, change: _Change) -> None:
        """Change the budget; an error of the store is only logged: the provider's answer matters more."""
        try:
            await self._change(change)
        except StoreError as error:
            log.warning("live quota not noted", why=str(error))

    async def _change(self, change: _Change) -> None:
        async def attempt() -> Committed | Conflict:
            budget, unchanged = await self._read()
            changed = self._stored.put(change(budget, self._clock.now()))
            return await commit(self._store, Changes([changed], [unchanged]))

        _ = await compare_and_set(attempt, "The quota budget changes all the time; nothing was written.")


def tag_of(cause: Cause | Reason) -> str:
    """Return the error value for the provider's failure, or for the reason of a wait (spec 2, Errors)."""
    if pause := PAUSES.get(cause):
        return REFUSED if pause.by_owner else QUOTA
    return QUOTA if cause == "pacing" else UNREACHABLE
