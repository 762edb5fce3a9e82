"""Days and weeks of the quota, minute by minute, against a small model of the provider (decisions 24, 25)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.live.plan import may_read
from orrery.live.tokens import next_pacific_midnight
from orrery.ports.analytics import AnalyticsFailed, Cause, Quotas
from tests.live.metered import (
    FALL_BACK,
    FRESH,
    MINUTE,
    SPRING_FORWARD,
    SUMMER,
    WINTER,
    Outcome,
    Provider,
    lived,
    midnight,
    service,
)
from tests.support.soak import SOAKING
from tests.support.tables import each_case


@each_case(
    ("now", "refill"),
    [
        (datetime(2026, 7, 1, 6, 59, 59, tzinfo=UTC), datetime(2026, 7, 1, 7, tzinfo=UTC)),
        (datetime(2026, 7, 1, 7, tzinfo=UTC), datetime(2026, 7, 2, 7, tzinfo=UTC)),
        (datetime(2026, 12, 1, 7, 59, tzinfo=UTC), datetime(2026, 12, 1, 8, tzinfo=UTC)),
        (datetime(2026, 3, 8, 8, tzinfo=UTC), datetime(2026, 3, 9, 7, tzinfo=UTC)),
        (datetime(2026, 11, 1, 7, tzinfo=UTC), datetime(2026, 11, 2, 8, tzinfo=UTC)),
    ],
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
    """Anyone who starts at any minute keeps the total through the refill at midnight."""
    start = midnight(day) + timedelta(hours=11 if SOAKING else 20, minutes=17)
    made = lived(service(start), start, start + timedelta(hours=30 if SOAKING else 7))
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
    """What the provider says it grants is used, beyond what was assumed, through each kind of refill."""
    start, end = (midnight(SUMMER) + timedelta(hours=hours) for hours in ((0, 24) if SOAKING else (22, 25)))
    provider = Provider(day=200_000, hour=40_000, project_hour=14_000)
    made = lived(service(start, provider, timedelta(seconds=5)), start, end)
    assert len(made.answered("total")) == made.ticks == (end - start) // timedelta(seconds=5)
    assert made.oldest("pages") <= MINUTE
    assert made.refused == []


@pytest.mark.parametrize(("reads", "granted"), [(10, 240), (60, 250)])
def test_admin_reads(reads: int, granted: int) -> None:
    """Ten admin reads an hour are all granted; reading every minute costs no total, and only some pages."""
    start = midnight(WINTER)
    made = service(start)
    for now in made.live(start, start + timedelta(days=1)):
        wanted = now.minute % (60 // reads) == 0
        if wanted and may_read(made.budget.at(now), now, "planets", MINUTE) is None:
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
    made = lived(service(start, provider), start, start + timedelta(hours=48 if SOAKING else 12))
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
    start = midnight(WINTER) + timedelta(hours=12)
    made = service(start)
    for now in made.live(start, start + timedelta(hours=36 if SOAKING else 15)):
        if now == start + timedelta(hours=3, minutes=4):
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
NOT_OF_ONE = {"concurrent", "hour", "day", "unauthorized"}


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


MENDED = {"unauthorized", "forbidden", "refused"}
"""What is over for all once the total that met it succeeds."""


@dataclass
class Rules:
    """What the back-offs forbid, found out from the outcomes alone (decision 25).

    `closed` tells until when and why: a query, `all` of them or the `rest` beside the total; `held` is until a
    total succeeds after it was `all`, `failing` until one succeeds after a server error.
    """

    closed: dict[str, tuple[datetime, str]] = field(default_factory=dict[str, tuple[datetime, str]])
    held: bool = False
    failing: bool = False
    server_errors: list[Outcome] = field(default_factory=list[Outcome])

    def check(self, now: datetime, run: Sequence[str]) -> None:
        """Fail if one of these queries may not be asked now, or not together."""
        others = set(run) - {"total"}
        assert not run or now >= max(self.end("all", now), *(self.end(query, now) for query in run))
        assert not others or now >= self.end("rest", now)
        assert not others or not self.held or now - self.end("all", now) >= timedelta(hours=1)
        recent = [each for each in self.server_errors if now - each.at < timedelta(hours=1)]
        assert len(run) <= 3 - len(recent)
        assert not others or not self.failing or "total" not in [each.query for each in recent]
        assert not others or not [each for each in recent if each.query != "total"]

    def end(self, key: str, now: datetime) -> datetime:
        """Return until when something is closed."""
        return self.closed.get(key, (now, ""))[0]

    def learn(self, now: datetime, outcomes: Sequence[Outcome]) -> None:
        """Take in what became of the queries of one tick."""
        causes = {each.query: each.cause for each in outcomes}
        if causes.get("total", "not asked") is None:
            self.open()
        self.failing = self.failing or causes.get("total") == "server"
        for each in outcomes:
            if each.cause == "server":
                self.server_errors.append(each)
            elif each.cause in {*PAUSES, "day"}:
                self.close(each.query, str(each.cause), now)

    def open(self) -> None:
        """Take in that a total succeeded."""
        mended = {self.closed.pop(key, (None, ""))[1] for key in ("all", "total")} & MENDED
        self.closed = {key: (until, why) for key, (until, why) in self.closed.items() if why not in mended}
        self.held = self.failing = False

    def close(self, query: str, cause: str, now: datetime) -> None:
        """Take in a refusal."""
        key = query if cause not in NOT_OF_ONE else "all" if query == "total" else "rest"
        self.closed[key] = max(self.closed.get(key, (now, "")), (pause_end(cause, now), cause))
        self.held = self.held or key == "all"


@pytest.mark.parametrize(("seed", "interval"), [(1, 60), (4, 5), *[(2, 60), (3, 60)] * SOAKING])
def test_a_week_of_failures(seed: int, interval: int) -> None:
    """Whatever fails, nothing is asked during a back-off, and after one for all queries only the total probes."""
    start = midnight(SPRING_FORWARD - timedelta(days=2))
    days = (7 if interval == 60 else 2) if SOAKING else (2 if interval == 60 else 0.25)
    time_of_test = timedelta(days=days)
    provider = Unreliable(random=Random(seed))  # noqa: S311 - a simulation, not a secret
    made, rules, seen = service(start, provider, timedelta(seconds=interval)), Rules(), 0
    for now in made.live(start, start + time_of_test):
        outcomes, seen = made.outcomes[seen:], len(made.outcomes)
        rules.check(now, [each.query for each in outcomes])
        rules.learn(now, outcomes)
    assert len({each.cause for each in made.outcomes}) > len(CAUSES) - 2
    assert made.outcomes[-1].at > start + time_of_test - timedelta(days=1)
