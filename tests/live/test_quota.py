"""What may be asked of the provider, and when (decisions 24, 25)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.live.plan import Reason, TickPlan
from orrery.live.quota import ALL, PAUSES, REST, Block, QuotaBudget, ServerError
from orrery.live.tokens import TokenWindow
from orrery.ports.analytics import Cause, Quotas, QuotaState
from tests.live.quotas import (
    BOTH,
    HOUR,
    LIMITS,
    MIDNIGHT,
    MINUTE,
    NEW,
    NOW,
    SECOND,
    after,
    answered,
    next_total,
    nothing,
    planned,
    readable,
    told,
)
from tests.support.tables import each_case

times = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - given a zone here
any_time = st.one_of(times, st.just(datetime.min.replace(tzinfo=UTC)), st.just(datetime.max.replace(tzinfo=UTC)))
tokens = st.one_of(st.integers(0, 30_000), st.just(10**400))


def windows(name: str) -> st.SearchStrategy[TokenWindow]:
    """Return windows as a wrong clock or another property may have written them."""
    return st.builds(
        TokenWindow,
        name=st.just(name),
        size=st.integers(1, 30_000),
        remaining=tokens,
        refills_at=any_time,
        since=any_time,
        told=st.none() | tokens,
        others=tokens | st.integers(-30_000, 0),
    )


reasons = st.sampled_from(list(PAUSES))
blocks = st.builds(Block, reason=reasons, since=any_time, until=any_time)
queries = st.sampled_from(["total", "pages", "planets"])
errors = st.builds(ServerError, query=queries, at=any_time)
budgets = st.builds(
    QuotaBudget,
    hour=windows("hour"),
    day=windows("day"),
    costs=st.dictionaries(queries, tokens),
    asked=st.dictionaries(queries, any_time),
    blocks=st.dictionaries(st.sampled_from([ALL, REST, "total", "pages", "planets"]), blocks),
    errors=st.lists(errors, max_size=5).map(tuple),
    errors_left=st.none() | st.integers(-1, 10),
    failing=st.booleans(),
)
buckets = st.builds(QuotaState, consumed=st.integers(-5, 50_000), remaining=st.integers(-5, 250_000))
quotas_told = st.builds(
    Quotas,
    day=st.none() | buckets,
    hour=st.none() | buckets,
    project_hour=st.none() | buckets,
    server_errors=st.none() | buckets,
)


def test_the_first_tick() -> None:
    """A new budget asks everything, the total first."""
    assert planned(NEW, NOW, ("pages", "total")) == TickPlan(("total", "pages"), {})


def test_every_second_tick() -> None:
    """Pages give way at every second tick when the day would not last, and the plan says so."""
    asked = answered(NEW, NOW, *BOTH, quotas=told(day=15_000))
    second, third = planned(asked, NOW + MINUTE), planned(asked, NOW + 2 * MINUTE)
    assert (second.run, second.skipped) == (("total",), {"pages": "pacing"})
    assert third.run == BOTH


def test_nothing_for_pages() -> None:
    """Pages are not asked at all when every token is needed for totals, not even for the first time."""
    poor = answered(NEW, NOW, "total", quotas=told(day=810 * 10))
    assert planned(poor, NOW + MINUTE) == TickPlan(("total",), {"pages": "pacing"})


def test_spaced_totals() -> None:
    """When totals would not last either, they are spaced out."""
    poor = answered(NEW, NOW, "total", quotas=told(day=810 * 4))
    assert planned(poor, NOW + MINUTE) == planned(poor, NOW + 2 * MINUTE) == nothing("pacing")
    assert planned(poor, NOW + 3 * MINUTE).run == ("total",)


@pytest.mark.parametrize(
    ("quotas", "reason", "until"),
    [
        (told(hour=9), "hour", NOW + HOUR / 2),
        (told(day=9), "day", MIDNIGHT),
        (told(hour=0, day=0), "day", MIDNIGHT),
    ],
    ids=["hour", "day", "both"],
)
def test_used_up(quotas: Quotas, reason: Reason, until: datetime) -> None:
    """Nothing is asked of a quota that is used up until it is refilled."""
    empty = answered(NEW, NOW, "total", quotas=quotas)
    assert planned(empty, until - MINUTE) == nothing(reason)
    assert planned(empty, until).run == BOTH


def test_the_longest_pause() -> None:
    """The last tokens of a day are asked 25 minutes apart: further apart the count would only be hidden."""
    poor = answered(NEW, NOW, "total", quotas=told(day=30))
    assert next_total(poor, NOW + MINUTE) == NOW + 25 * MINUTE


@pytest.mark.parametrize(("day", "hour"), [(24_990, 1740), (100, 50), (199_990, 13_990)])
def test_the_provider_knows_better(day: int, hour: int) -> None:
    """A reported remainder replaces ours, higher or lower, and the scarcer hour counts."""
    budget = answered(NEW, NOW, "total", quotas=told(day=day, hour=hour))
    assert (budget.day.remaining, budget.hour.remaining) == (day, hour)


def test_a_learned_cost() -> None:
    """A dearer query is charged so at once, a cheaper one by halves."""
    dear = answered(NEW, NOW, "pages", quotas=told(cost=30))
    cheap = answered(NEW, NOW, "pages", quotas=told(cost=2))
    assert (dear.cost("pages"), cheap.cost("pages")) == (30, 6)
    assert dear.cost("total") == 10


def test_a_cost_beyond_a_full_quota() -> None:
    """A query that claims to cost more than a full quota is still asked when the quota is full."""
    dear = answered(NEW, NOW, "total", quotas=told(cost=10**9))
    assert "total" in planned(dear, MIDNIGHT).run


def test_a_refill_at_another_minute() -> None:
    """A remainder that rises tells at which minute the provider refills the hour."""
    before = answered(NEW, NOW - 10 * MINUTE, "total", quotas=told(hour=400))
    seen = answered(before, NOW - 3 * MINUTE, "total", quotas=told(hour=1740))
    low = answered(seen, NOW + 30 * MINUTE, "total", quotas=told(hour=9))
    assert next_total(low, NOW + 31 * MINUTE, SECOND) == seen.hour.refills_at
    later = answered(seen, NOW + 100 * MINUTE, "total", quotas=told(hour=9))
    assert next_total(later, NOW + 101 * MINUTE, SECOND) == seen.hour.refills_at + HOUR
    assert NOW + 57 * MINUTE <= seen.hour.refills_at < NOW + 58 * MINUTE


@each_case(
    ("budget", "reason"),
    [
        (NEW, None),
        (answered(NEW, NOW, "total", quotas=told(day=811 * 10 + 20)), None),
        (answered(NEW, NOW, "total", quotas=told(day=811 * 10)), "pacing"),
        (answered(NEW, NOW, "total", quotas=told(hour=31 * 10)), "pacing"),
        (answered(NEW, NOW, "total", quotas=told(day=500 * 10)), None),
        (answered(NEW, NOW, "total", quotas=told(hour=9)), "hour"),
        (answered(NEW, NOW, "total", quotas=told(day=9)), "day"),
        (answered(NEW, NOW, "total", quotas=told(errors=1)), "server-errors"),
        (after("hour", now=NOW - 20 * MINUTE), "hour"),
        (after("forbidden", "planets"), "forbidden"),
        (after("forbidden", "pages"), None),
    ],
)
def test_admin_reads(budget: QuotaBudget, reason: str | None) -> None:
    """An admin reads what makes no total rarer, and never during a back-off; the total alone probes."""
    assert readable(budget, NOW) == reason


def test_a_kill_amid_the_calls() -> None:
    """What was charged is gone although no outcome ever came, or one without figures."""
    for budget in (NEW.charged(BOTH, NOW), answered(NEW, NOW, *BOTH)):
        assert (budget.day.remaining, budget.hour.remaining) == (24_980, 1730)


@pytest.mark.parametrize("back", [timedelta(minutes=5), timedelta(hours=3), timedelta(days=400)])
def test_a_clock_that_is_put_back(back: timedelta) -> None:
    """After a clock was put back the total is asked again within half an hour of the new time."""
    ahead = after("hour", budget=answered(NEW, NOW, *BOTH, quotas=told(hour=5)))
    now = NOW - back
    assert next_total(ahead, now) - now <= timedelta(minutes=30)


@given(budgets, times, st.sampled_from([5, 60]))
def test_no_budget_is_silent_for_good(budget: QuotaBudget, now: datetime, seconds: int) -> None:
    """Whatever is stored, the total is asked within little more than a day."""
    interval = timedelta(seconds=seconds)
    ticks = (now + minute * MINUTE for minute in range(26 * 60))
    assert any("total" in planned(budget, at, BOTH, interval).run for at in ticks)


@given(budgets, times, st.lists(queries, unique=True))
def test_a_plan_is_complete(budget: QuotaBudget, now: datetime, scheduled: list[str]) -> None:
    """Every scheduled query is either asked, the total first, or skipped for a reason."""
    found = planned(budget, now, scheduled)
    assert sorted([*found.run, *found.skipped]) == sorted(scheduled)
    assert "total" not in found.run[1:]


@given(
    budgets, times, queries, quotas_told, st.sampled_from(["hour", "day", "forbidden", "server", "unreachable"])
)
def test_a_budget_can_be_stored(
    budget: QuotaBudget, now: datetime, query: str, quotas: Quotas, cause: Cause
) -> None:
    """Whatever was stored and whatever the provider tells, the next budget can be read back."""
    spent = budget.at(now).charged([query, "total"], now)
    for stored in (spent, spent.reported(query, quotas, now), spent.failed(query, cause, now)):
        assert QuotaBudget.model_validate_json(stored.model_dump_json()) == stored


@given(budgets, times, buckets.filter(lambda bucket: bucket.remaining >= 0), queries)
def test_the_provider_always_wins(budget: QuotaBudget, now: datetime, bucket: QuotaState, query: str) -> None:
    """After a report what is left is what the provider says is left."""
    known = budget.at(now).reported(query, Quotas(day=bucket, project_hour=bucket), now)
    assert known.day.remaining == known.hour.remaining == bucket.remaining


def every_total_lasts(budget: QuotaBudget, now: datetime) -> bool:
    """Return whether each quota pays for the total of every minute until its refill, and for one more."""
    cost = budget.cost("total")
    return all(w.remaining >= cost * (1 - (now - w.refills_at) // MINUTE) for w in (budget.hour, budget.day))


@given(times, st.integers(0, 30_000), st.integers(0, 2000), st.integers(1, 60))
def test_an_admin_read_costs_no_total(now: datetime, day: int, hour: int, cost: int) -> None:
    """If the total of every minute was affordable before an admin's read, it still is."""
    budget = answered(QuotaBudget.new(LIMITS, now), now, "total", quotas=told(day=day, hour=hour, cost=cost))
    later = now + timedelta(seconds=1)
    if every_total_lasts(budget, later) and readable(budget, later) is None:
        assert every_total_lasts(budget.charged(["planets"], later), later)
