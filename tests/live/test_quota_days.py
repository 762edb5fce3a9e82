"""Days of the quota, minute by minute, against a small model of the provider (decisions 24, 25)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.errors import AnalyticsFailed, Cause
from orrery.live.quota import (
    Budget,
    Limits,
    Plan,
    charged,
    failed,
    may_read,
    next_pacific_midnight,
    plan,
    reported,
)
from orrery.ports.analytics import Bucket, Quotas

LIMITS = Limits()
MINUTE = timedelta(minutes=1)
FRESH = timedelta(seconds=180)
WINTER, SUMMER = date(2026, 12, 1), date(2026, 7, 1)
SPRING_FORWARD, FALL_BACK = date(2026, 3, 8), date(2026, 11, 1)


def midnight(day: date) -> datetime:
    """Return when a day begins in Los Angeles."""
    return datetime.combine(day, time(), tzinfo=ZoneInfo("America/Los_Angeles")).astimezone(UTC)


@dataclass
class Provider:
    """Token quotas of an hour and of a day that refuse what does not fit, as the published errors say.

    `others` returns the tokens that other consumers take before each tick; the hour begins at `refill_minute`.
    """

    day: int = 25_000
    hour: int = 1750
    project_hour: int = 1750
    costs: Callable[[str], int] = lambda _query: 10
    others: Callable[[datetime], int] = lambda _now: 0
    refill_minute: int = 0
    day_left: int = 0
    hour_left: int = 0
    project_left: int = 0
    periods: tuple[date, datetime] | None = None

    def pass_time(self, now: datetime) -> None:
        """Refill what is due, then let the others take theirs."""
        day = now.astimezone(ZoneInfo("America/Los_Angeles")).date()
        hour = (now - timedelta(minutes=self.refill_minute)).replace(minute=0, second=0, microsecond=0)
        before, self.periods = self.periods, (day, hour)
        if before is None or before[0] != day:
            self.day_left = self.day
        if before is None or before[1] != hour:
            self.hour_left, self.project_left = self.hour, self.project_hour
        taken = min(self.others(now), self.day_left, self.hour_left)
        self.day_left, self.hour_left = self.day_left - taken, self.hour_left - taken

    def ask(self, query: str) -> Quotas:
        """Return the quotas after a query, or raise `AnalyticsFailed` for the quota into which it does not fit."""
        cost = self.costs(query)
        if cost > min(self.hour_left, self.project_left):
            raise AnalyticsFailed("Exhausted property tokens for a project per hour.", cause="hour", status=429)
        if cost > self.day_left:
            raise AnalyticsFailed("Exhausted property tokens for a property per day.", cause="day", status=429)
        self.day_left, self.hour_left = self.day_left - cost, self.hour_left - cost
        self.project_left -= cost
        return Quotas(
            day=Bucket(cost, self.day_left),
            hour=Bucket(cost, self.hour_left),
            project_hour=Bucket(cost, self.project_left),
        )


@dataclass(frozen=True)
class Outcome:
    """What became of one query: a report, or a failure for a cause."""

    at: datetime
    query: str
    cause: str | None


@dataclass
class Service:
    """The only thing that a process does with the budget, and a log of what came of it."""

    provider: Provider
    budget: Budget
    interval: timedelta = MINUTE
    scheduled: tuple[str, ...] = ("total", "pages")
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    ticks: int = 0

    @property
    def refused(self) -> list[Outcome]:
        """The queries without a report."""
        return [each for each in self.outcomes if each.cause]

    def answered(self, query: str) -> list[datetime]:
        """Return when `query` was answered."""
        return [each.at for each in self.outcomes if each.query == query and each.cause is None]

    def live(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Tick from `start` to before `end`, and yield after each tick."""
        now = start
        while now < end:
            self.tick(now)
            yield now
            now += self.interval

    def tick(self, now: datetime) -> Plan:
        """Ask what the plan says; the budget goes through the store and back."""
        self.ticks += 1
        self.provider.pass_time(now)
        planned = plan(self.budget, LIMITS, now, self.scheduled, self.interval)
        self.ask(planned.run, now)
        return planned

    def ask(self, queries: Sequence[str], now: datetime) -> None:
        """Charge, ask, and take in each outcome."""
        self.budget = charged(self.budget, LIMITS, queries, now)
        for query in queries:
            try:
                quotas = self.provider.ask(query)
            except AnalyticsFailed as error:
                self.outcomes.append(Outcome(now, query, error.cause))
                self.budget = failed(self.budget, LIMITS, query, error.cause, now)
            else:
                self.outcomes.append(Outcome(now, query, None))
                self.budget = reported(self.budget, LIMITS, query, quotas, now)
        self.budget = Budget.model_validate_json(self.budget.model_dump_json())

    def oldest(self, query: str) -> timedelta:
        """Return the longest time between two answers."""
        times = self.answered(query)
        return max(later - earlier for earlier, later in pairwise(times))


def service(start: datetime, provider: Provider | None = None, interval: timedelta = MINUTE) -> Service:
    """Return a service that starts with nothing in its store."""
    return Service(provider or Provider(), Budget.new(LIMITS, start), interval)


def lived(made: Service, start: datetime, end: datetime) -> Service:
    """Return the service after all ticks of a time."""
    for _ in made.live(start, end):
        pass
    return made


@pytest.mark.parametrize(
    ("now", "refill"),
    [
        (datetime(2026, 7, 1, 6, 59, 59, tzinfo=UTC), datetime(2026, 7, 1, 7, tzinfo=UTC)),
        (datetime(2026, 7, 1, 7, tzinfo=UTC), datetime(2026, 7, 2, 7, tzinfo=UTC)),
        (datetime(2026, 12, 1, 7, 59, tzinfo=UTC), datetime(2026, 12, 1, 8, tzinfo=UTC)),
        (datetime(2026, 3, 8, 8, tzinfo=UTC), datetime(2026, 3, 9, 7, tzinfo=UTC)),
        (datetime(2026, 11, 1, 7, tzinfo=UTC), datetime(2026, 11, 2, 8, tzinfo=UTC)),
    ],
    ids=["before it in summer", "at it", "in winter", "after 23 hours", "after 25 hours"],
)
def test_midnights(now: datetime, refill: datetime) -> None:
    """The day's quota refills at 07:00 UTC in summer and at 08:00 in winter."""
    assert next_pacific_midnight(now) == refill


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001 - given a zone here
def test_the_next_midnight(now: datetime) -> None:
    """The next refill is a midnight in Los Angeles, and at most 25 hours away."""
    refill = next_pacific_midnight(now)
    there = refill.astimezone(ZoneInfo("America/Los_Angeles"))
    assert (there.hour, there.minute, there.second, there.microsecond) == (0, 0, 0, 0)
    assert timedelta(0) < refill - now <= timedelta(hours=25)


@pytest.mark.parametrize(
    ("day", "minutes"),
    [(WINTER, 1440), (SUMMER, 1440), (SPRING_FORWARD, 1380), (FALL_BACK, 1500)],
    ids=["winter", "summer", "a day of 23 hours", "a day of 25 hours"],
)
def test_a_day_of_minutes(day: date, minutes: int) -> None:
    """The total is asked every minute of a Pacific day, pages every other at least, and no token is missing."""
    start, end = midnight(day), midnight(day + timedelta(days=1))
    made = lived(service(start), start, end)
    assert len(made.answered("total")) == made.ticks == minutes
    assert made.oldest("pages") <= 2 * MINUTE
    assert made.refused == []


@pytest.mark.parametrize("day", [WINTER, SUMMER, SPRING_FORWARD, FALL_BACK])
def test_a_start_amid_a_day(day: date) -> None:
    """Whoever starts at any minute keeps the total through the refill at midnight."""
    start = midnight(day) + timedelta(hours=11, minutes=17)
    made = lived(service(start), start, start + timedelta(hours=30))
    assert len(made.answered("total")) == made.ticks
    assert made.oldest("pages") <= 2 * MINUTE
    assert made.refused == []


def test_a_restart_that_forgot_everything() -> None:
    """A budget that was lost, in an hour and a day that are nearly used up, is put right by the first report."""
    start = midnight(WINTER) + timedelta(hours=20, minutes=30)
    made = service(start)
    made.provider.pass_time(start)
    made.provider.day_left, made.provider.hour_left = 10 * 60 * 4 + 200, 10 * 30 + 100
    lived(made, start, midnight(WINTER + timedelta(days=1)))
    assert len(made.answered("total")) == made.ticks
    assert made.refused == []


def test_a_generous_quota_and_a_tick_of_five_seconds() -> None:
    """What the provider says it grants is used, beyond the limits that were assumed, through every refill."""
    start = midnight(SUMMER)
    provider = Provider(day=200_000, hour=40_000, project_hour=14_000)
    made = lived(service(start, provider, timedelta(seconds=5)), start, start + timedelta(days=1))
    assert len(made.answered("total")) == made.ticks == 17_280
    assert made.oldest("pages") <= MINUTE
    assert made.refused == []


@pytest.mark.parametrize(("reads", "granted"), [(10, 240), (60, 250)])
def test_admin_reads(reads: int, granted: int) -> None:
    """Ten admin reads an hour are all granted; whoever reads every minute costs no total, and only some pages."""
    start = midnight(WINTER)
    made = service(start)
    for now in made.live(start, start + timedelta(days=1)):
        wanted = now.minute % (60 // reads) == 0
        if wanted and may_read(made.budget, LIMITS, now, "planets", MINUTE) is None:
            made.ask(["planets"], now)
    assert len(made.answered("total")) == made.ticks == 1440
    assert len(made.answered("planets")) >= granted
    assert made.refused == []


def test_dear_queries() -> None:
    """When not even totals would last the day, they are spaced out evenly, and the count stays fresh."""
    start = midnight(WINTER)
    made = lived(service(start, Provider(costs=lambda _query: 25)), start, start + timedelta(days=1))
    assert made.oldest("total") < FRESH
    assert made.ticks - made.ticks // 2 <= len(made.answered("total")) < made.ticks
    assert made.refused == []


def test_another_consumer_eats_half_the_day() -> None:
    """Others' habits are foreseen: the count is fresh to the end of the day, though pages give way."""
    start = midnight(WINTER)
    provider = Provider(others=lambda now: 9 if now.minute % 3 else 8)
    made = lived(service(start, provider), start, start + timedelta(days=1))
    assert made.oldest("total") < FRESH
    assert made.answered("total")[-1] >= start + timedelta(days=1) - FRESH
    assert made.refused == []


def test_bursts_of_another_consumer() -> None:
    """Five hundred tokens that others take at once, three times a day, leave the count fresh."""
    start = midnight(WINTER)
    provider = Provider(others=lambda now: 500 if (now.hour, now.minute) in {(9, 5), (15, 5), (18, 5)} else 0)
    made = lived(service(start, provider), start, start + timedelta(days=1))
    assert made.oldest("total") < FRESH
    assert made.refused == []


@pytest.mark.parametrize("minute", [1, 17, 59])
def test_hours_that_begin_at_another_minute(minute: int) -> None:
    """That a tight hour is refilled at another minute is found out within two hours, and then costs no total."""
    start = midnight(SUMMER)
    provider = Provider(hour=800, project_hour=700, refill_minute=minute)
    made = lived(service(start, provider), start, start + timedelta(days=2))
    later = [at for at in made.answered("total") if at >= start + timedelta(hours=2)]
    assert len(later) == made.ticks - 120
    assert made.oldest("total") < timedelta(minutes=10)
    assert made.refused == []


def test_a_day_that_is_refilled_an_hour_late() -> None:
    """Should the provider keep winter time in summer, the count is never hidden."""
    start, late = midnight(SUMMER), midnight(SUMMER) + timedelta(days=1, hours=1)
    made = service(start)
    for now in made.live(start, start + timedelta(days=1, hours=3)):
        if timedelta(0) <= late - now <= timedelta(hours=1):
            made.provider.day_left = min(made.provider.day_left, 100)
        elif now == late + MINUTE:
            made.provider.day_left = 25_000
    assert made.oldest("total") < timedelta(minutes=30)
    assert made.refused == []


@pytest.mark.parametrize(
    ("eaten", "longest"),
    [((0, 1750), timedelta(minutes=61)), ((25_000, 0), timedelta(hours=9))],
    ids=["the hour", "the day"],
)
def test_others_take_it_all(eaten: tuple[int, int], longest: timedelta) -> None:
    """After others took a whole quota, the total is back with its refill, and little was asked in vain."""
    start = midnight(WINTER)
    made = service(start)
    for now in made.live(start, start + timedelta(days=2)):
        if now == start + timedelta(hours=15, minutes=4):
            made.provider.day_left -= min(eaten[0], made.provider.day_left)
            made.provider.hour_left -= min(eaten[1], made.provider.hour_left)
    assert made.oldest("total") <= longest
    assert len(made.refused) <= 5


CAUSES: list[tuple[Cause, int]] = [
    *(("concurrent", 4), ("hour", 3), ("day", 1), ("thresholded", 4)),
    *(("unauthorized", 3), ("forbidden", 2), ("refused", 2)),
    *(("server", 30), ("unreachable", 20), ("not-a-report", 10)),
]
"""What goes wrong in a bad week, and how often beside the others."""

PAUSES: dict[str, timedelta] = {
    "concurrent": timedelta(seconds=30),
    "hour": timedelta(minutes=15),
    "thresholded": timedelta(minutes=15),
    "unauthorized": timedelta(minutes=5),
    "forbidden": timedelta(hours=1),
    "refused": timedelta(hours=1),
}
FOR_ALL = {"concurrent", "hour", "day", "unauthorized"}


@dataclass
class Unreliable(Provider):
    """A provider that also fails, each call with a chance of one in three."""

    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 - a simulation, not a secret

    def ask(self, query: str) -> Quotas:
        """Return the quotas, or raise for a drawn cause."""
        if self.random.random() < 1 / 3:
            [(cause, _)] = self.random.choices(CAUSES, [weight for _, weight in CAUSES])
            raise AnalyticsFailed(cause, cause=cause)
        return super().ask(query)


def pause_end(cause: str, at: datetime) -> datetime:
    """Return until when a failure forbids to ask (decision 25)."""
    if cause != "day":
        return at + PAUSES.get(cause, timedelta(0))
    day = at.astimezone(ZoneInfo("America/Los_Angeles")).date()
    soon_after_midnight = at - midnight(day) < timedelta(hours=2)
    return at + timedelta(minutes=15) if soon_after_midnight else midnight(day + timedelta(days=1))


@dataclass
class Rules:
    """What the back-offs forbid, found out from the outcomes alone (decision 25)."""

    closed: dict[str, datetime] = field(default_factory=dict[str, datetime])
    held: bool = False
    server_errors: list[datetime] = field(default_factory=list[datetime])

    def check(self, now: datetime, run: Sequence[str]) -> None:
        """Fail if one of these queries may not be asked now, or not together."""
        ended = self.closed.get("all", now)
        assert not run or now >= max(ended, *(self.closed.get(query, ended) for query in run))
        assert not self.held or set(run) <= {"total"} or now - ended >= timedelta(hours=1)
        assert len(run) <= 3 - len([at for at in self.server_errors if now - at < timedelta(hours=1)])

    def learn(self, now: datetime, outcomes: Sequence[Outcome]) -> None:
        """Take in what became of the queries of one tick."""
        self.held = self.held and ("total", None) not in [(each.query, each.cause) for each in outcomes]
        for each in outcomes:
            if each.cause == "server":
                self.server_errors.append(now)
            elif each.cause is not None:
                key = "all" if each.cause in FOR_ALL else each.query
                self.closed[key] = max(self.closed.get(key, now), pause_end(each.cause, now))
                self.held = self.held or key == "all"


@pytest.mark.parametrize(("seed", "interval"), [(1, 60), (2, 60), (3, 60), (4, 5)])
def test_a_week_of_failures(seed: int, interval: int) -> None:
    """Whatever fails, nothing is asked during a back-off, and after one for all queries only the total probes."""
    start = midnight(SPRING_FORWARD - timedelta(days=2))
    time_of_test = timedelta(days=7 if interval == 60 else 2)
    provider = Unreliable(random=Random(seed))  # noqa: S311 - a simulation, not a secret
    made, rules, seen = service(start, provider, timedelta(seconds=interval)), Rules(), 0
    for now in made.live(start, start + time_of_test):
        outcomes, seen = made.outcomes[seen:], len(made.outcomes)
        rules.check(now, [each.query for each in outcomes])
        rules.learn(now, outcomes)
    assert len({each.cause for each in made.outcomes}) > len(CAUSES) - 2
    assert made.outcomes[-1].at > start + time_of_test - timedelta(days=1)
