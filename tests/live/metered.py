"""A small model of the metered provider, and of a service that spends its quota, minute by minute."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from orrery.live.plan import TickPlan, plan
from orrery.live.quota import QuotaBudget, TokenLimits
from orrery.ports.analytics import AnalyticsFailed, Quotas, QuotaState

LIMITS = TokenLimits()
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
            day=QuotaState(cost, self.day_left),
            hour=QuotaState(cost, self.hour_left),
            project_hour=QuotaState(cost, self.project_left),
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
    budget: QuotaBudget
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

    def tick(self, now: datetime) -> TickPlan:
        """Ask what the plan says; the budget goes through the store and back."""
        self.ticks += 1
        self.provider.pass_time(now)
        planned = plan(self.budget.at(now), now, self.scheduled, self.interval)
        self.ask(planned.run, now)
        return planned

    def ask(self, queries: Sequence[str], now: datetime) -> None:
        """Charge, ask, and take in each outcome."""
        self.budget = self.budget.at(now).charged(queries, now)
        for query in queries:
            try:
                quotas = self.provider.ask(query)
            except AnalyticsFailed as error:
                self.outcomes.append(Outcome(now, query, error.cause))
                self.budget = self.budget.failed(query, error.cause, now)
            else:
                self.outcomes.append(Outcome(now, query, None))
                self.budget = self.budget.reported(query, quotas, now)
        self.budget = QuotaBudget.model_validate_json(self.budget.model_dump_json())

    def oldest(self, query: str) -> timedelta:
        """Return the longest time between two answers."""
        times = self.answered(query)
        return max(later - earlier for earlier, later in pairwise(times))


def service(start: datetime, provider: Provider | None = None, interval: timedelta = MINUTE) -> Service:
    """Return a service that starts with nothing in its store."""
    return Service(provider or Provider(), QuotaBudget.new(LIMITS, start), interval)


def lived(made: Service, start: datetime, end: datetime) -> Service:
    """Return the service after all ticks of a time."""
    for _ in made.live(start, end):
        pass
    return made
