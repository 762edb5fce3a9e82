"""The analytics provider by its official library: answers and refusals as published, and the known traps."""

import json
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.analytics.data_v1beta import BetaAnalyticsDataClient
from google.analytics.data_v1beta.services.beta_analytics_data.transports import BetaAnalyticsDataRestTransport
from google.analytics.data_v1beta.types import (
    Dimension,
    Metric,
    MinuteRange,
    OrderBy,
    RunRealtimeReportRequest,
)
from google.api_core import exceptions
from google.oauth2 import service_account

from orrery.adapters.ga4 import SCOPE
from orrery.sandbox.analytics.access import AnalyticsConfig, service_account_key
from orrery.sandbox.analytics.report import Quota
from tests.sandbox.contracts import check_object, needs_contract, published
from tests.support.analytics_provider import (
    CONCURRENT,
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
    by,
)
from tests.support.clock import ManualClock
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

HTML, JSON = "text/html; charset=utf-8", "application/json"


def test_reports(provider: Provider) -> None:
    """A report counts each visitor once, most first; its figures are text; without visitors it has no rows."""
    provider_report = provider.report()
    check_object("RunRealtimeReportResponse", provider_report, "analytics.discovery")
    assert provider_report == {
        "metricHeaders": [{"name": "activeUsers", "type": "TYPE_INTEGER"}],
        "rows": [{"metricValues": [{"value": str(VISITORS)}]}],
        "rowCount": 1,
        "kind": "analyticsData#runRealtimeReport",
    }
    provider.visitors(100)
    pages, planets = ([users for (users,) in provider.rows(by(name)).values()] for name in (PAGE, PLANET))
    assert (sum(planets), sum(pages) > 100, pages == sorted(pages, reverse=True)) == (100, True, True)
    limited = provider.report(by(PAGE, limit="3"))
    check_object("RunRealtimeReportResponse", limited, "analytics.discovery")
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


@needs_contract
@pytest.mark.parametrize("name", REFUSED)
def test_refusals_in_the_published_words(provider: Provider, name: str) -> None:
    """A refusal has the published words and header, and takes no tokens."""
    words = dict(published("analytics.errors")[name])
    challenge = words.pop("www_authenticate", None)
    asked: dict[str, Any] = {"body": TOTAL, **REFUSED[name]}
    answer = provider.web.post(REPORTS, json=TOTAL) if name == "401_missing" else provider.ask(**asked)
    assert (answer.json()["error"], answer.headers.get("www-authenticate")) == (words, challenge)
    assert provider.left(DAY) == 25_000


@needs_contract
def test_what_is_not_realtime(provider: Provider) -> None:
    """No dimension of other reports is taken: no path, no host, no title."""
    for name in published("analytics.realtime-schema")["NOT_realtime"]:
        assert f"Field {name} is not a valid dimension." in provider.refusal(by(name))["message"]


def test_what_nobody_asks_for(provider: Provider) -> None:
    """More than 29 minutes, several ranges, other metrics and filters are refused."""
    far, near = {"startMinutesAgo": 30}, {"startMinutesAgo": 9}
    wrong: list[object] = [{**TOTAL, "minuteRanges": one} for one in ([far], [near, near])]
    wrong += [{**TOTAL, "dimensionFilter": {}}, {"metrics": [{"name": "screenPageViews"}]}]
    found = [provider.ask(one).status_code for one in wrong]
    assert found == [400] * len(wrong)


def test_running_down(provider: Provider) -> None:
    """A report takes its cost of three quotas, goes through while anything is left, and has the rest."""
    provider.quota(bucket=PROJECT_HOUR, left=25)
    assert [provider.ask().status_code for _ in range(4)] == [200, 200, 200, 429]
    assert (provider.left(DAY), provider.left(HOUR), provider.left(PROJECT_HOUR)) == (24_970, 4_970, 0)
    provider.quota(refill=True, cost=3)
    report = provider.report({**TOTAL, "returnPropertyQuota": True})
    check_object("RunRealtimeReportResponse", report, "analytics.discovery")
    quota = report["propertyQuota"]
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


@each_case(("name", "used", "refilled"), REFILLS)
def test_quotas_come_back(name: str, used: datetime, refilled: datetime) -> None:
    """The hour's at the full hour; the day's at midnight in Los Angeles, also where a day has 23 hours or 25."""
    clock = ManualClock(used)
    quota = Quota(AnalyticsConfig("1", "counter@example.test", "no key"), clock)
    full = quota.left(name)
    quota.charge()
    clock.advance((refilled - used).total_seconds() - 0.5)
    assert quota.left(name) == full - 10
    clock.advance(0.5)
    assert quota.left(name) == full


def test_assertions_that_open_nothing(provider: Provider) -> None:
    """An assertion of another account, by another key or for another audience, and another grant, are refused."""
    other = replace(provider, key=service_account_key(provider.url))
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


Client = Any
"""`BetaAnalyticsDataClient`, whose own types are known in parts only."""


class HereOnly(service_account.Credentials):
    """The service account's credentials, without the look-up of its region at an address of the vendor's."""

    def _is_regional_access_boundary_lookup_required(self) -> bool:
        return False


@pytest.fixture
def client(provider: Provider) -> Generator[Client]:
    """Return the client with the service account's credentials."""
    untyped: Any = HereOnly
    credentials = untyped.from_service_account_info(json.loads(provider.key), scopes=[SCOPE])
    transport = BetaAnalyticsDataRestTransport(
        host=provider.url.removeprefix("http://"), credentials=credentials, url_scheme="http"
    )
    with BetaAnalyticsDataClient(transport=transport) as one:
        yield one


def request(*dimensions: str, **more: Any) -> RunRealtimeReportRequest:  # noqa: ANN401  any field of the request
    """Return a request for active users."""
    return RunRealtimeReportRequest(
        property=f"properties/{PROPERTY}",
        dimensions=[Dimension(name=name) for name in dimensions],
        metrics=[Metric(name="activeUsers")],
        **more,
    )


def test_the_total(client: Client) -> None:
    """The client reads the total, its kind and the quotas."""
    report = client.run_realtime_report(request(return_property_quota=True), timeout=PATIENCE)
    assert report.kind == "analyticsData#runRealtimeReport"
    assert [value.value for row in report.rows for value in row.metric_values] == [str(VISITORS)]
    assert report.property_quota.tokens_per_day.remaining == 24_990


def test_everything_that_a_request_has(client: Client) -> None:
    """Dimensions, limit, order and range arrive as the client writes them."""
    report = client.run_realtime_report(
        request(
            PLANET,
            PAGE,
            limit=4,
            order_bys=[OrderBy(metric=OrderBy.MetricOrderBy(metric_name="activeUsers"), desc=True)],
            minute_ranges=[MinuteRange(name="all", start_minutes_ago=29, end_minutes_ago=0)],
        ),
        timeout=PATIENCE,
    )
    figures = [int(row.metric_values[0].value) for row in report.rows]
    assert figures == sorted(figures, reverse=True)
    assert len(figures) == 4


@pytest.mark.parametrize(
    ("kind", "raised"),
    [
        ("analytics_403", exceptions.Forbidden),
        ("analytics_429_hour", exceptions.TooManyRequests),
        ("analytics_500", exceptions.InternalServerError),
    ],
)
def test_faults(
    client: Client, provider: Provider, kind: str, raised: type[exceptions.GoogleAPICallError]
) -> None:
    """The client takes the sandbox's errors for the vendor's."""
    provider.fault(kind)
    with pytest.raises(raised):
        client.run_realtime_report(request(), timeout=PATIENCE)


def test_wrong_dimensions(client: Client) -> None:
    """A dimension that realtime reports do not have is an invalid argument to the client."""
    with pytest.raises(exceptions.BadRequest, match="Did you mean city"):
        client.run_realtime_report(request("pageTitle"), timeout=PATIENCE)
