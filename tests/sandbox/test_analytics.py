"""The stand-in for the analytics provider against its published contract."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from orrery.sandbox.analytics.access import AnalyticsConfig, service_account_key
from orrery.sandbox.analytics.quota import TEXTS, Quota
from orrery.sandbox.ground import Document, DocumentStore
from tests.sandbox.analytics import (
    CONCURRENT,
    CONTRACTS,
    DAY,
    HOUR,
    PAGE,
    PLANET,
    PROJECT_HOUR,
    PROPERTY,
    REPORTS,
    SERVER_ERRORS,
    THRESHOLDED,
    TOTAL,
    VISITORS,
    Provider,
    bearer,
    by,
    check_schema,
    needs_analytics_contract,
    published,
)
from tests.sandbox.held import late
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


@needs_analytics_contract
def test_a_wrong_answer_is_seen() -> None:
    """The check against the contract can fail."""
    wrongs: list[Document] = [{"kind": 1}, {"row": []}, {"rows": [{"metricValues": [{"value": 3}]}]}]
    for wrong in wrongs:
        with pytest.raises(AssertionError):
            check_schema("RunRealtimeReportResponse", wrong)


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


MORE: list[Document] = [
    {"dimension": []},
    {"limit": "many"},
    {"limit": "-1"},
    {"returnPropertyQuota": "yes"},
    {"minuteRanges": [{"startMinutesAgo": 30}]},
    {"minuteRanges": [{}, {}]},
    {"orderBys": [{"metric": {"metricName": "activeUsers"}}]},
    {"dimensionFilter": {}},
    {"metricAggregations": ["TOTAL"]},
    {"metrics": [{"name": "eventCount"}]},
    {"metrics": []},
]
NOT_ASKED: list[object] = [b"{", b"[]", b"\xff", *(TOTAL | more for more in MORE)]


@pytest.mark.parametrize("body", NOT_ASKED, ids=repr)
def test_what_nobody_asks_is_refused(provider: Provider, body: object) -> None:
    """What the provider would not read, and what the sandbox does not have, is an invalid argument."""
    assert provider.refusal(body)["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", REPORTS), ("POST", f"/v1beta/properties/{PROPERTY}:runReport"), ("POST", "/v1beta/")],
)
def test_wrong_paths_and_verbs(provider: Provider, method: str, path: str) -> None:
    """Another path or verb is a 404 in HTML, as the provider's front end gives it."""
    answer = provider.web.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, HTML)


def test_late_answers(provider: Provider) -> None:
    """A report comes late by the given seconds, and was charged; each request is shown."""
    token, before = provider.token(), provider.known()["report_calls"]
    provider.fault("analytics_timeout", value=60)
    assert late(provider.web, 60, REPORTS, json=TOTAL, headers=bearer(token)).status_code == 200
    # Not by what is left of the day, which may end in that minute.
    known = provider.known()
    newest = next(one for one in known["requests"] if one["what"] != "token")
    assert (newest["what"], newest["status"], newest["tokens"]) == ("total", 200, 10)
    assert known["report_calls"] == before + 1


GONE = {
    PROJECT_HOUR: "429_project_hour",
    CONCURRENT: "429_concurrent",
    DAY: "429_day_unattested",
    HOUR: None,
    SERVER_ERRORS: None,
}


@pytest.mark.parametrize("name", GONE)
def test_every_quota_refuses(provider: Provider, name: str) -> None:
    """A quota of which nothing is left answers 429 in its own words, the published ones where there are any."""
    provider.quota(bucket=name, left=0)
    error = provider.refusal(TOTAL)
    assert (error["code"], error["status"], error["message"]) == (429, "RESOURCE_EXHAUSTED", TEXTS[name])
    if (word := GONE[name]) is not None and (CONTRACTS / "analytics.errors.json").exists():
        assert error == published("errors")[word]


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
        CONCURRENT: {"consumed": 0, "remaining": 9},
        SERVER_ERRORS: {"consumed": 0, "remaining": 10},
        THRESHOLDED: {"consumed": 0, "remaining": 120},
    }


def test_server_errors(provider: Provider) -> None:
    """Server errors run down until nothing is answered any more in that hour."""
    provider.quota(bucket=SERVER_ERRORS, left=2)
    provider.fault("analytics_500", count=2)
    assert [provider.ask().status_code for _ in range(3)] == [500, 500, 429]


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


@pytest.mark.parametrize(
    "wrong", [{"cost": -1}, {"cost": "many"}, {"bucket": "tokensPerYear"}, {"bucket": DAY, "size": 1.5}]
)
def test_wrong_figures(provider: Provider, wrong: dict[str, object]) -> None:
    """A figure that is none, or of a quota that does not exist, is refused with a sentence and changes nothing."""
    before = provider.known()["quota"]
    answer = provider.web.post("/_quota", json=wrong)
    assert (answer.status_code, bool(answer.json()["error"]), provider.known()["quota"]) == (400, True, before)


def test_tokens(provider: Provider) -> None:
    """A signed assertion becomes an opaque token, which is good for an hour of the sandbox's clock."""
    answer = provider.mint().json()
    assert (answer["token_type"], answer["expires_in"], "." in answer["access_token"]) == ("Bearer", 3599, False)
    provider.advance(3590)
    assert provider.ask(token=answer["access_token"]).status_code == 200
    provider.advance(11)
    assert provider.ask(token=answer["access_token"]).status_code == 401


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
