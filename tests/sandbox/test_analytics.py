"""The stand-in for the analytics provider against its published contract."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from orrery.sandbox.analytics.access import AnalyticsConfig, service_account_key
from orrery.sandbox.analytics.quota import Quota
from orrery.sandbox.ground import DocumentStore
from tests.sandbox.analytics import (
    CONCURRENT,
    DAY,
    HOUR,
    PAGE,
    PLANET,
    PROJECT_HOUR,
    REPORTS,
    SERVER_ERRORS,
    THRESHOLDED,
    TOTAL,
    VISITORS,
    Provider,
    by,
    needs_analytics_contract,
    published,
)
from tests.support.clock import ManualClock

HTML, JSON = "text/html; charset=utf-8", "application/json"


def test_reports(provider: Provider) -> None:
    """A report counts each visitor once, most first; its figures are text; without visitors it has no rows."""
    assert provider.report() == {
        "metricHeaders": [{"name": "activeUsers", "type": "TYPE_INTEGER"}],
        "rows": [{"metricValues": [{"value": str(VISITORS)}]}],
        "rowCount": 1,
        "kind": "analyticsData#runRealtimeReport",
    }
    provider.visitors(100)
    pages, planets = ([users for (users,) in provider.rows(by(name)).values()] for name in (PAGE, PLANET))
    assert (sum(planets), sum(pages) > 100, pages == sorted(pages, reverse=True)) == (100, True, True)
    limited = provider.report(by(PAGE, limit="3"))
    assert (len(limited["rows"]), limited["rowCount"]) == (3, len(pages))
    assert 0 < provider.rows({**TOTAL, "minuteRanges": [{"startMinutesAgo": 9}]})[()][0] < 100
    assert list(provider.rows(by("customUser:plan"))) == [("(not set)",)]
    provider.visitors(0)
    assert provider.report(by(PAGE)) == {"kind": "analyticsData#runRealtimeReport"}
    assert set(provider.report({**TOTAL, "returnPropertyQuota": True})) == {"kind", "propertyQuota"}


REFUSED: dict[str, dict[str, Any]] = {
    "400_unknown_dim": {"body": by("pageTitle")},
    "400_event_scoped": {"body": by("customEvent:app_environment")},
    "401_missing": {},
    "401_invalid": {"token": "another"},
    "403": {"property_id": "987654321"},
}


@needs_analytics_contract
@pytest.mark.parametrize("name", REFUSED)
def test_refusals_in_the_published_words(provider: Provider, name: str) -> None:
    """A refusal has the published words and header, and takes no tokens."""
    words = dict(published("errors")[name])
    challenge = words.pop("www_authenticate", None)
    asked: dict[str, Any] = {"body": TOTAL, **REFUSED[name]}
    answer = provider.web.post(REPORTS, json=TOTAL) if name == "401_missing" else provider.ask(**asked)
    assert (answer.json()["error"], answer.headers.get("www-authenticate")) == (words, challenge)
    assert provider.left(DAY) == 25_000


@needs_analytics_contract
def test_what_is_not_realtime(provider: Provider) -> None:
    """No dimension of other reports is taken: no path, no host, no title."""
    for name in published("realtime-schema")["NOT_realtime"]:
        assert f"Field {name} is not a valid dimension." in provider.refusal(by(name))["message"]


def test_running_down(provider: Provider) -> None:
    """A report takes its cost of three quotas, goes through while anything is left, and has the rest."""
    provider.quota(bucket=PROJECT_HOUR, left=25)
    assert [provider.ask().status_code for _ in range(4)] == [200, 200, 200, 429]
    assert (provider.left(DAY), provider.left(HOUR), provider.left(PROJECT_HOUR)) == (24_970, 4_970, 0)
    provider.quota(refill=True, cost=3)
    quota = provider.report({**TOTAL, "returnPropertyQuota": True})["propertyQuota"]
    assert quota == {
        DAY: {"consumed": 3, "remaining": 24_997},
        HOUR: {"consumed": 3, "remaining": 4_997},
        PROJECT_HOUR: {"consumed": 3, "remaining": 1_747},
        CONCURRENT: {"consumed": 0, "remaining": 10},
        SERVER_ERRORS: {"consumed": 0, "remaining": 10},
        THRESHOLDED: {"consumed": 0, "remaining": 120},
    }


def at(*when: int) -> datetime:
    """Return a time in UTC."""
    return datetime(*when, tzinfo=UTC)  # pyright: ignore[reportArgumentType]  parts of a time


REFILLS = [
    (HOUR, at(2026, 3, 1, 12, 59, 59), at(2026, 3, 1, 13)),
    (DAY, at(2026, 1, 15, 7, 59, 59), at(2026, 1, 15, 8)),
    (DAY, at(2026, 7, 15, 6, 59, 59), at(2026, 7, 15, 7)),
    (DAY, at(2026, 3, 8, 8), at(2026, 3, 9, 7)),
    (DAY, at(2026, 11, 1, 7), at(2026, 11, 2, 8)),
]


@pytest.mark.parametrize(("name", "used", "refilled"), REFILLS)
def test_quotas_come_back(name: str, used: datetime, refilled: datetime) -> None:
    """The hour's at the full hour; the day's at midnight in Los Angeles, also where a day has 23 hours or 25."""
    clock, state = ManualClock(used), DocumentStore(None)
    quota = Quota(AnalyticsConfig("1", "counter@example.test", "no key"), state, clock)
    full = quota.bucket(name).left
    quota.charge()
    clock.advance((refilled - used).total_seconds() - 0.5)
    assert quota.bucket(name).left == full - 10
    again = Quota(AnalyticsConfig("1", "counter@example.test", "no key"), state, clock)
    assert again.bucket(name).left == full - 10
    clock.advance(0.5)
    assert quota.bucket(name).left == full


def test_assertions_that_open_nothing(provider: Provider) -> None:
    """An assertion of another account, by another key or for another audience, and another grant, are refused."""
    other = Provider(provider.url, service_account_key(provider.url), provider.clock, provider.web)
    for refused, error in (
        (provider.mint(provider.assertion(iss="another@example.test")), "invalid_grant"),
        (provider.mint(provider.assertion(aud="https://accounts.example.test/token")), "invalid_grant"),
        (provider.mint(other.assertion()), "invalid_grant"),
        (provider.mint(provider.assertion({"alg": "none"})), "invalid_grant"),
        (provider.mint("x"), "invalid_grant"),
        (provider.mint(grant_type="password"), "unsupported_grant_type"),
    ):
        assert (refused.status_code, json.loads(refused.text)["error"]) == (400, error)
    elsewhere = provider.token(scope="https://www.googleapis.com/auth/drive")
    assert provider.refusal(TOTAL, token=elsewhere)["details"][0]["reason"] == "ACCESS_TOKEN_SCOPE_INSUFFICIENT"
