"""What the analytics provider refuses, in its published words."""

import json
from typing import Any

import pytest

from orrery.sandbox.analytics import messages
from orrery.sandbox.state import Document
from tests.sandbox.analytics import PROPERTY, REPORTS, TOTAL, Provider, by, needs_analytics_contract, published

MESSAGES = {name: set(fields) for name, fields in messages.MESSAGES.items()}


def words(name: str) -> dict[str, Any]:
    """Return a published error without its header."""
    return {key: value for key, value in published("errors")[name].items() if key != "www_authenticate"}


@needs_analytics_contract
@pytest.mark.parametrize(
    ("name", "dimension"),
    [("400_unknown_dim", "pageTitle"), ("400_event_scoped", "customEvent:app_environment")],
)
def test_unknown_dimensions(provider: Provider, name: str, dimension: str) -> None:
    """A dimension that realtime reports do not have is refused in the published words."""
    assert provider.refusal(by(dimension)) == words(name)


@needs_analytics_contract
def test_what_is_not_realtime(provider: Provider) -> None:
    """No dimension of other reports is taken."""
    for name in published("realtime-schema")["NOT_realtime"]:
        assert f"Field {name} is not a valid dimension." in provider.refusal(by(name))["message"]


def test_unknown_metrics(provider: Provider) -> None:
    """A metric that realtime reports do not have is refused."""
    message = provider.refusal({"metrics": [{"name": "totalUsers"}]})["message"]
    assert message.startswith("Did you mean activeUsers? Field totalUsers is not a valid metric.")


@needs_analytics_contract
def test_no_token(provider: Provider) -> None:
    """A request without a token is told so, in the published words and header."""
    answer = provider.web.post(REPORTS, json=TOTAL)
    assert answer.status_code == 401
    assert answer.json()["error"] == words("401_missing")
    assert answer.headers["www-authenticate"] == published("errors")["401_missing"]["www_authenticate"]


@needs_analytics_contract
def test_a_wrong_token(provider: Provider) -> None:
    """A token that was never given is refused, in the published words and header."""
    answer = provider.ask(token="another")  # noqa: S106  a token that says what it is
    assert answer.status_code == 401
    assert answer.json()["error"] == words("401_invalid")
    assert answer.headers["www-authenticate"] == published("errors")["401_invalid"]["www_authenticate"]


@needs_analytics_contract
def test_another_property(provider: Provider) -> None:
    """Another property is forbidden in the published words."""
    assert provider.refusal(TOTAL, property_id="987654321") == words("403")


def test_a_token_for_something_else(provider: Provider) -> None:
    """A token whose scope is not analytics opens no report."""
    token = provider.token(scope="https://www.googleapis.com/auth/drive")
    assert provider.refusal(TOTAL, token=token)["details"][0]["reason"] == "ACCESS_TOKEN_SCOPE_INSUFFICIENT"


UNREADABLE: list[tuple[Document, str, str]] = [
    (TOTAL | {"dimension": []}, "", 'Unknown name "dimension": Cannot find field.'),
    (
        by("city") | {"metrics": [{"nam": "x"}]},
        "metrics[0]",
        "Unknown name \"nam\" at 'metrics[0]'",
    ),
    (TOTAL | {"limit": "many"}, "limit", "Invalid value at 'limit' (TYPE_INT64), \"many\""),
    (TOTAL | {"limit": 2.5}, "limit", "Invalid value at 'limit' (TYPE_INT64), 2.5"),
    (
        TOTAL | {"returnPropertyQuota": "yes"},
        "return_property_quota",
        "Invalid value at 'return_property_quota' (TYPE_BOOL)",
    ),
    (
        TOTAL | {"metricAggregations": ["SUM"]},
        "metric_aggregations[0]",
        '(type.googleapis.com/google.analytics.data.v1beta.MetricAggregation), "SUM"',
    ),
    ({"metrics": [{"name": 5}]}, "metrics[0].name", "Invalid value at 'metrics[0].name' (TYPE_STRING), 5"),
]


@pytest.mark.parametrize(("body", "where", "message"), UNREADABLE)
def test_unreadable_fields(provider: Provider, body: object, where: str, message: str) -> None:
    """A field that does not exist, or of another type, is named as the provider's parser names it."""
    error = provider.refusal(body)
    assert message in error["message"]
    [violation] = error["details"][0]["fieldViolations"]
    assert violation == {"field": where, "description": error["message"]}


def test_everything_wrong_is_told_at_once(provider: Provider) -> None:
    """All fields that cannot be read are named in one answer."""
    assert len(provider.refusal({"a": 1, "limit": "x"})["message"].splitlines()) == 2


@pytest.mark.parametrize("body", [b"{", b"[]", b"5", b"\xff\xfe", b'"x"'])
def test_no_json_object(provider: Provider, body: bytes) -> None:
    """A body that is no JSON object is refused by the parser."""
    assert provider.refusal(body)["message"].startswith("Invalid JSON payload received.")


IMPOSSIBLE: list[Document] = [
    {"minuteRanges": [{"startMinutesAgo": 30}]},
    {"minuteRanges": [{"startMinutesAgo": 5, "endMinutesAgo": 6}]},
    {"minuteRanges": [{"endMinutesAgo": -1}]},
    {"minuteRanges": [{}, {}, {}]},
    {"limit": "-1"},
    {"orderBys": [{"metric": {"metricName": "eventCount"}}]},
    {"dimensions": [{"name": "city"}, {"name": "city"}]},
    {"dimensions": [{"name": name} for name in "abcdefghij"]},
    {"dimensionFilter": {"filter": {"fieldName": "city"}, "andGroup": {}}},
    {"dimensionFilter": {"andGroup": {}}},
    {"dimensionFilter": {"orGroup": {"expressions": []}}},
    {"minuteRanges": [{"name": "date_range_0"}]},
    {"minuteRanges": [{"name": "RESERVED_now"}]},
]


@pytest.mark.parametrize("more", IMPOSSIBLE)
def test_what_cannot_be_asked(provider: Provider, more: dict[str, object]) -> None:
    """Ranges, limits, orders, filters and dimensions out of bounds are refused."""
    assert provider.refusal(TOTAL | more)["status"] == "INVALID_ARGUMENT"


NOT_SIMULATED: list[Document] = [
    {"metricFilter": {"filter": {"fieldName": "activeUsers"}}},
    {"metricAggregations": ["MAXIMUM"]},
    {"orderBys": [{"pivot": {}}]},
    {"dimensions": [{"name": "x", "dimensionExpression": {"lowerCase": {"dimensionName": "city"}}}]},
    {"dimensionFilter": {"filter": {"fieldName": "city", "numericFilter": {"operation": "EQUAL"}}}},
    {"dimensionFilter": {"filter": {"fieldName": "city", "stringFilter": {"matchType": "FULL_REGEXP"}}}},
    {"metrics": []},
]


@pytest.mark.parametrize("more", NOT_SIMULATED)
def test_what_is_not_simulated(provider: Provider, more: dict[str, object]) -> None:
    """What the provider could do and the sandbox cannot is refused in so many words."""
    assert provider.refusal(TOTAL | more)["message"].startswith("The sandbox does not simulate ")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", REPORTS),
        ("PUT", REPORTS),
        ("POST", f"/v1beta/properties/{PROPERTY}:runReport"),
        ("GET", f"/v1beta/properties/{PROPERTY}/metadata"),
        ("POST", "/v1beta/"),
        ("DELETE", "/v1beta/anything/else"),
    ],
)
def test_wrong_paths_and_verbs(provider: Provider, method: str, path: str) -> None:
    """Another path or verb is a 404 in HTML, as the provider's front end gives it."""
    answer = provider.web.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_refusals_cost_nothing(provider: Provider) -> None:
    """A request that is refused takes no tokens."""
    provider.refusal(by("pageTitle"))
    provider.refusal(TOTAL, property_id="1")
    assert provider.known()["quota"]["buckets"]["tokensPerDay"]["left"] == 25_000


@needs_analytics_contract
def test_every_message_of_the_contract_is_read() -> None:
    """The fields of each message in a request are those of the discovery document."""
    schemas = published("discovery")["schemas"]
    assert {name: set(schemas[name].get("properties", {})) for name in MESSAGES} == MESSAGES


def test_errors_are_json(provider: Provider) -> None:
    """An error is one JSON object under `error`."""
    assert set(json.loads(provider.ask(b"{").text)) == {"error"}
