"""Days in which everything fails that can, minute by minute, and weeks of them in a soak (decision 25)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from orrery.ports.analytics import AnalyticsFailed, Cause, Quotas
from tests.support.metered import SPRING_FORWARD, Outcome, Provider, midnight, service
from tests.support.soak import SOAKING

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


@pytest.mark.parametrize(("seed", "interval"), [(1, 60), (2, 60), (3, 60), (4, 5)])
def test_a_week_of_failures(seed: int, interval: int) -> None:
    """Whatever fails, nothing is asked during a back-off, and after one for all queries only the total probes."""
    start = midnight(SPRING_FORWARD - timedelta(days=2))
    days = (7 if interval == 60 else 2) if SOAKING else (2 if interval == 60 else 0.5)
    time_of_test = timedelta(days=days)
    provider = Unreliable(random=Random(seed))  # noqa: S311 - a simulation, not a secret
    made, rules, seen = service(start, provider, timedelta(seconds=interval)), Rules(), 0
    for now in made.live(start, start + time_of_test):
        outcomes, seen = made.outcomes[seen:], len(made.outcomes)
        rules.check(now, [each.query for each in outcomes])
        rules.learn(now, outcomes)
    assert len({each.cause for each in made.outcomes}) > len(CAUSES) - 2
    assert made.outcomes[-1].at > start + time_of_test - timedelta(days=1)
