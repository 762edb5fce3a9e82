"""The six quotas: how they run down, what they say when they are gone, and when they come back."""

import asyncio
from datetime import UTC, datetime

import pytest

from orrery.sandbox.analytics.config import AnalyticsConfig
from orrery.sandbox.analytics.errors import Refused
from orrery.sandbox.analytics.quota import TEXTS, Quota
from orrery.sandbox.state import Document, DocumentStore
from tests.sandbox.analytics import (
    CONCURRENT,
    DAY,
    HOUR,
    PROJECT_HOUR,
    REPORTS,
    SERVER_ERRORS,
    THRESHOLDED,
    TOTAL,
    Provider,
    bearer,
    by,
    needs_analytics_contract,
    published,
)
from tests.sandbox.conftest import until
from tests.sandbox.held import expect_met, held, posted
from tests.support.clock import ManualClock

CONFIG = AnalyticsConfig("1", "counter@example.test", "no key")
PUBLISHED = {
    PROJECT_HOUR: "429_project_hour",
    CONCURRENT: "429_concurrent",
    THRESHOLDED: "429_thresholded",
    DAY: "429_day_unattested",
}


def quota_at(now: datetime, state: DocumentStore | None = None) -> tuple[Quota, ManualClock]:
    """Return full quotas and the clock that they follow."""
    clock = ManualClock(now)
    return Quota(CONFIG, state or DocumentStore(None), clock), clock


def left(quota: Quota, name: str) -> int:
    """Return what is left of one."""
    return quota.bucket(name).left


@needs_analytics_contract
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_words(provider: Provider, name: str) -> None:
    """A quota that is gone answers 429 in its own published words."""
    provider.quota(bucket=name, left=0)
    error = provider.refusal(by("audienceName"))
    assert error == published("errors")[PUBLISHED[name]]


@pytest.mark.parametrize("name", TEXTS)
def test_every_quota_refuses(provider: Provider, name: str) -> None:
    """Each quota refuses with a sentence of its own once nothing of it is left."""
    provider.quota(bucket=name, left=0)
    error = provider.refusal(by("audienceName"))
    assert (error["code"], error["status"], error["message"]) == (429, "RESOURCE_EXHAUSTED", TEXTS[name])
    assert len(set(TEXTS.values())) == 6


def test_running_down(provider: Provider) -> None:
    """A report takes its cost of the three quotas of tokens, and goes through while anything is left."""
    provider.quota(bucket=PROJECT_HOUR, left=25)
    assert [provider.ask().status_code for _ in range(4)] == [200, 200, 200, 429]
    assert (provider.left(DAY), provider.left(HOUR), provider.left(PROJECT_HOUR)) == (24_970, 4_970, 0)


def test_another_cost(provider: Provider) -> None:
    """What a report costs can be set."""
    provider.quota(cost=3)
    told = provider.report({**TOTAL, "returnPropertyQuota": True})["propertyQuota"]
    assert told[DAY] == {"consumed": 3, "remaining": 24_997}


def test_another_size(provider: Provider) -> None:
    """How large a quota is can be set; what is left stays, as far as it fits."""
    provider.quota(bucket=THRESHOLDED, size=50)
    assert provider.known()["quota"]["buckets"][THRESHOLDED] == {"size": 50, "left": 50}
    provider.quota(bucket=THRESHOLDED, size=120)
    assert provider.known()["quota"]["buckets"][THRESHOLDED] == {"size": 120, "left": 50}


def test_thresholded_requests(provider: Provider) -> None:
    """Only reports by audience take of the thresholded requests."""
    provider.report(by("city"))
    assert provider.left(THRESHOLDED) == 120
    provider.report(by("audienceId"))
    assert provider.left(THRESHOLDED) == 119


def test_server_errors(provider: Provider) -> None:
    """Server errors run down until nothing is answered any more in that hour."""
    provider.quota(bucket=SERVER_ERRORS, left=2)
    provider.fault("analytics_500", count=2)
    assert [provider.ask().status_code for _ in range(3)] == [500, 500, 429]
    assert provider.left(DAY) == 25_000


def test_requests_at_once(provider: Provider) -> None:
    """A report that is on its way holds one of the places, until its client hangs up."""
    provider.quota(bucket=CONCURRENT, size=1, left=1)
    provider.fault("analytics_timeout", path="city")
    token = provider.token()

    async def refusal_of_another() -> Document:
        report = posted(provider.web, REPORTS, json=by("city"), headers=bearer(token))
        async with held(report, lambda: expect_met(provider.web)):
            return provider.refusal(TOTAL, token=token)

    assert asyncio.run(refusal_of_another())["message"] == TEXTS[CONCURRENT]
    until(lambda: provider.left(CONCURRENT) == 1)
    assert provider.ask(token=token).status_code == 200
    provider.quota(bucket=CONCURRENT, size=10, left=10)


def test_the_hour_refills_on_the_clock() -> None:
    """What is told by the hour comes back at the full hour, not an hour after it was used."""
    quota, clock = quota_at(datetime(2026, 3, 1, 12, 59, 0, tzinfo=UTC))
    quota.charge(thresholded=True)
    quota.fail()
    clock.advance(59)
    names = (HOUR, PROJECT_HOUR, THRESHOLDED, SERVER_ERRORS)
    assert [left(quota, name) for name in names] == [4_990, 1_740, 119, 9]
    clock.advance(1)
    assert [left(quota, name) for name in names] == [5_000, 1_750, 120, 10]
    assert left(quota, DAY) == 24_990


@pytest.mark.parametrize(
    ("used", "refilled"),
    [
        (datetime(2026, 1, 15, 7, 59, 59, tzinfo=UTC), datetime(2026, 1, 15, 8, tzinfo=UTC)),
        (datetime(2026, 7, 15, 6, 59, 59, tzinfo=UTC), datetime(2026, 7, 15, 7, tzinfo=UTC)),
    ],
)
def test_the_day_refills_at_midnight_pacific(used: datetime, refilled: datetime) -> None:
    """The day's tokens come back at midnight in Los Angeles: 08:00 UTC in winter, 07:00 in summer."""
    quota, clock = quota_at(used)
    quota.charge(thresholded=False)
    assert left(quota, DAY) == 24_990
    clock.advance((refilled - used).total_seconds())
    assert left(quota, DAY) == 25_000


@pytest.mark.parametrize(
    ("midnight", "hours"),
    [(datetime(2026, 3, 8, 8, tzinfo=UTC), 23), (datetime(2026, 11, 1, 7, tzinfo=UTC), 25)],
)
def test_days_on_which_clocks_change(midnight: datetime, hours: int) -> None:
    """The day in spring on which Los Angeles skips an hour has 23, the one in autumn 25."""
    quota, clock = quota_at(midnight)
    quota.charge(thresholded=False)
    clock.advance(hours * 3600 - 1)
    assert left(quota, DAY) == 24_990
    clock.advance(1)
    assert left(quota, DAY) == 25_000


def test_quotas_are_kept() -> None:
    """A sandbox that starts again knows what was used, and what a report costs."""
    state, now = DocumentStore(None), datetime(2026, 3, 1, 12, tzinfo=UTC)
    before, _ = quota_at(now, state)
    before.change({"cost": 7})
    before.begin(thresholded=False)
    before.charge(thresholded=False)
    after, _ = quota_at(now, state)
    assert (after.cost, left(after, DAY), left(after, CONCURRENT)) == (7, 24_993, 10)


def test_the_day_refills_in_the_sandbox(provider: Provider) -> None:
    """A report that was refused for the day's tokens goes through after a day."""
    provider.quota(bucket=DAY, left=0)
    assert provider.refusal(TOTAL)["message"] == TEXTS[DAY]
    provider.advance(86_400)
    assert provider.ask().status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"cost": -1},
        {"cost": "many"},
        {"bucket": "tokensPerYear"},
        {"bucket": DAY, "left": -1},
        {"bucket": DAY, "size": 1.5},
    ],
)
def test_wrong_figures(provider: Provider, wrong: dict[str, object]) -> None:
    """A figure that is none, or of a quota that does not exist, is refused with a sentence and changes nothing."""
    before = provider.known()["quota"]
    answer = provider.web.post("/_quota", json=wrong)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert provider.known()["quota"] == before


def test_quotas_refuse_in_turn() -> None:
    """Where several quotas are gone, one of them is told."""
    quota, _ = quota_at(datetime(2026, 3, 1, 12, tzinfo=UTC))
    quota.change({"bucket": DAY, "left": 0})
    quota.change({"bucket": CONCURRENT, "left": 0})
    with pytest.raises(Refused, match="concurrent"):
        quota.begin(thresholded=False)
