"""The vendor's own client against the sandbox, over its REST transport."""

import json
from collections.abc import Generator
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
from tests.sandbox.analytics import PAGE, PLANET, PROPERTY, VISITORS, Provider
from tests.support.waiting import PATIENCE

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
