"""Budgets, quotas and plans of one moment, for the tests of the rules."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from orrery.errors import Cause
from orrery.live.backoff import Query, Reason
from orrery.live.quota import Budget, Limits, TickPlan, charged, failed, plan, reported
from orrery.ports.analytics import Bucket, Quotas

LIMITS = Limits()
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
NOW = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
BOTH = ("total", "pages")
NEW = Budget.new(LIMITS, NOW)


def planned(
    budget: Budget, now: datetime, queries: Sequence[str] = BOTH, interval: timedelta = MINUTE
) -> TickPlan:
    """Return the plan of one tick."""
    return plan(budget, LIMITS, now, queries, interval)


def nothing(reason: Reason, until: datetime) -> TickPlan:
    """Return the plan of a tick at which nothing is asked."""
    skipped: dict[Query, Reason] = dict.fromkeys(BOTH, reason)
    return TickPlan((), skipped, until)


def told(day: int = 20_000, hour: int = 1500, cost: int = 10, errors: int | None = None) -> Quotas:
    """Return the quotas that a report carries."""
    server_errors = None if errors is None else Bucket(0, errors)
    return Quotas(
        day=Bucket(cost, day),
        hour=Bucket(cost, hour + 9),
        project_hour=Bucket(cost, hour),
        server_errors=server_errors,
    )


def answered(budget: Budget, now: datetime, *queries: str, quotas: Quotas | None = None) -> Budget:
    """Return the budget after a charge and a report of each query, a second later."""
    budget = charged(budget, LIMITS, queries, now)
    for query in queries:
        budget = reported(budget, LIMITS, query, quotas, now + timedelta(seconds=1))
    return budget


def after(cause: Cause, query: str = "total", budget: Budget = NEW, now: datetime = NOW) -> Budget:
    """Return the budget after `query` was charged and failed."""
    return failed(charged(budget, LIMITS, [query], now), LIMITS, query, cause, now)
