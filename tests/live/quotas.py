"""Budgets, quotas and plans of one moment, for the tests of the rules."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from orrery.live.plan import Reason, TickPlan, may_read, plan
from orrery.live.quota import Query, QuotaBudget, TokenLimits
from orrery.ports.analytics import Cause, Quotas, QuotaState

LIMITS = TokenLimits()
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
NOW = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
BOTH = ("total", "pages")
NEW = QuotaBudget.new(LIMITS, NOW)


def planned(
    budget: QuotaBudget, now: datetime, queries: Sequence[str] = BOTH, interval: timedelta = MINUTE
) -> TickPlan:
    """Return the plan of one tick."""
    return plan(budget.at(now), now, queries, interval)


def next_total(budget: QuotaBudget, now: datetime, interval: timedelta = MINUTE) -> datetime:
    """Return at which tick from `now` on the total is asked; fail if not within 26 hours."""
    for tick in range(26 * HOUR // interval + 1):
        if "total" in planned(budget, now + tick * interval).run:
            return now + tick * interval
    raise AssertionError("The total is never asked.")


def readable(budget: QuotaBudget, now: datetime, query: str = "planets") -> Reason | None:
    """Return why an owner may not read now, or None."""
    return may_read(budget.at(now), now, query, MINUTE)


def nothing(reason: Reason) -> TickPlan:
    """Return the plan of a tick at which nothing is asked."""
    skipped: dict[Query, Reason] = dict.fromkeys(BOTH, reason)
    return TickPlan((), skipped)


def told(day: int = 20_000, hour: int = 1500, cost: int = 10, errors: int | None = None) -> Quotas:
    """Return the quotas that a report carries."""
    server_errors = None if errors is None else QuotaState(0, errors)
    return Quotas(
        day=QuotaState(cost, day),
        hour=QuotaState(cost, hour + 9),
        project_hour=QuotaState(cost, hour),
        server_errors=server_errors,
    )


def answered(budget: QuotaBudget, now: datetime, *queries: str, quotas: Quotas | None = None) -> QuotaBudget:
    """Return the budget after a charge and a report of each query, a second later."""
    budget = budget.at(now).charged(queries, now)
    for query in queries:
        budget = budget.at(now + SECOND).reported(query, quotas, now + SECOND)
    return budget


def after(cause: Cause, query: str = "total", budget: QuotaBudget = NEW, now: datetime = NOW) -> QuotaBudget:
    """Return the budget after `query` was charged and failed."""
    return budget.at(now).charged([query], now).failed(query, cause, now)
