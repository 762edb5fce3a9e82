"""Realtime reports, as the published description has them."""

import pytest

from orrery.sandbox.state import Document
from tests.sandbox.analytics import (
    PAGE,
    PLANET,
    TOTAL,
    VISITORS,
    Provider,
    by,
    check_schema,
    needs_analytics_contract,
    published,
)

METRICS = ["activeUsers", "eventCount", "keyEvents", "screenPageViews"]


def contains(dimension: str, **text: object) -> Document:
    """Return a filter by text."""
    return {"filter": {"fieldName": dimension, "stringFilter": text}}


def test_the_total(provider: Provider) -> None:
    """A report without dimensions has one row with one figure, which is text."""
    assert provider.report() == {
        "metricHeaders": [{"name": "activeUsers", "type": "TYPE_INTEGER"}],
        "rows": [{"metricValues": [{"value": str(VISITORS)}]}],
        "rowCount": 1,
        "kind": "analyticsData#runRealtimeReport",
    }


def test_nobody(provider: Provider) -> None:
    """With nobody there the body has its kind and nothing else."""
    provider.visitors(0)
    assert provider.report(by(PAGE)) == {"kind": "analyticsData#runRealtimeReport"}


def test_nobody_with_quotas(provider: Provider) -> None:
    """With nobody there the quotas are told all the same."""
    provider.visitors(0)
    assert set(provider.report({**TOTAL, "returnPropertyQuota": True})) == {"kind", "propertyQuota"}


def test_a_visitor_of_two_pages_is_one(provider: Provider) -> None:
    """The pages add up to more than the total, the planets to the total."""
    provider.visitors(100)
    assert sum(users for (users,) in provider.rows(by(PAGE)).values()) > 100
    assert sum(users for (users,) in provider.rows(by(PLANET)).values()) == 100


def test_the_same_number_looks_the_same(provider: Provider) -> None:
    """A number of visitors that comes again brings the same report."""
    before = provider.report(by(PAGE, "country", "deviceCategory"))
    provider.visitors(500)
    provider.visitors(VISITORS)
    assert provider.report(by(PAGE, "country", "deviceCategory")) == before


def test_visitors_come_and_go_one_by_one(provider: Provider) -> None:
    """One visitor more changes the total by one."""
    for count in (0, 1, 2, 500):
        provider.visitors(count)
        assert provider.report().get("rows", [{"metricValues": [{"value": "0"}]}]) == [
            {"metricValues": [{"value": str(count)}]}
        ]


@needs_analytics_contract
def test_every_published_dimension_and_metric(provider: Provider) -> None:
    """Every dimension and metric of the realtime schema is there."""
    schema = published("realtime-schema")
    assert schema["metrics"] == METRICS
    for name in schema["dimensions"]:
        report = provider.report({"dimensions": [{"name": name}], "metrics": [{"name": one} for one in METRICS]})
        assert [one["name"] for one in report["dimensionHeaders"]] == [name]
        assert [one["name"] for one in report["metricHeaders"]] == METRICS


def test_most_users_first(provider: Provider) -> None:
    """Rows come with most users first, as asked and by default."""
    asked = provider.rows(by(PAGE, orderBys=[{"metric": {"metricName": "activeUsers"}, "desc": True}]))
    assert list(asked.values()) == sorted(asked.values(), reverse=True)
    assert list(provider.rows(by(PAGE)).items()) == list(asked.items())


def test_ordering_by_a_dimension(provider: Provider) -> None:
    """Rows come in the order of a dimension when asked so, backwards too."""
    names = list(provider.rows(by(PAGE, orderBys=[{"dimension": {"dimensionName": PAGE}}])))
    assert names == sorted(names)
    turned = provider.rows(by(PAGE, orderBys=[{"dimension": {"dimensionName": PAGE}, "desc": True}]))
    assert list(turned) == names[::-1]


@pytest.mark.parametrize("limit", ["3", 3])
def test_limits(provider: Provider, limit: object) -> None:
    """A limit is text or a number, and `rowCount` tells how many rows there would be."""
    everything = provider.rows(by(PAGE))
    report = provider.report(by(PAGE, limit=limit))
    assert (len(report["rows"]), report["rowCount"]) == (3, len(everything))


def test_totals(provider: Provider) -> None:
    """A total beside the rows counts nobody twice."""
    [total] = provider.report(by(PAGE, metricAggregations=["TOTAL"]))["totals"]
    assert total == {
        "dimensionValues": [{"value": "RESERVED_TOTAL"}],
        "metricValues": [{"value": str(VISITORS)}],
    }


def test_minute_ranges(provider: Provider) -> None:
    """A range of minutes counts those only; two ranges have a column that tells them apart."""
    late, early = {"startMinutesAgo": 9}, {"name": "early", "startMinutesAgo": 29, "endMinutesAgo": 10}
    rows = provider.rows({**TOTAL, "minuteRanges": [late, early]})
    assert set(rows) == {("date_range_0",), ("early",)}
    assert provider.rows({**TOTAL, "minuteRanges": [late]})[()] == rows["date_range_0",]
    assert 0 < rows["date_range_0",][0] < VISITORS


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        (contains(PLANET, value="Tideline"), {"Tideline"}),
        (contains(PLANET, value="tideline", caseSensitive=True), set[str]()),
        (contains(PLANET, value="TIDE", matchType="BEGINS_WITH"), {"Tideline"}),
        (contains(PLANET, value="mere", matchType="ENDS_WITH"), {"Saltmere"}),
        (contains(PLANET, value="er", matchType=4), {"Emberfall", "Saltmere"}),
        (
            {"filter": {"fieldName": PLANET, "inListFilter": {"values": ["saltmere", "Mossgate"]}}},
            {"Mossgate", "Saltmere"},
        ),
        (
            {"orGroup": {"expressions": [contains(PLANET, value="Tideline"), contains(PLANET, value="Mossgate")]}},
            {"Tideline", "Mossgate"},
        ),
        (
            {
                "andGroup": {
                    "expressions": [
                        {"notExpression": contains(PLANET, value="Northwind")},
                        contains(PLANET, value="a", matchType="CONTAINS"),
                    ]
                }
            },
            {"Emberfall", "Mossgate", "Saltmere"},
        ),
        ({"filter": {"fieldName": "city", "emptyFilter": {}}}, None),
    ],
)
def test_filters(provider: Provider, expression: Document, kept: set[str] | None) -> None:
    """A filter keeps what it says, without regard to case unless told."""
    provider.visitors(200)
    report = provider.report(by(PLANET, dimensionFilter=expression))
    found = {row["dimensionValues"][0]["value"] for row in report.get("rows", [])}
    assert found == kept if kept is not None else found


def test_custom_user_dimensions(provider: Provider) -> None:
    """A dimension of the property's own for users is known, and not set."""
    assert list(provider.rows(by("customUser:plan"))) == [("(not set)",)]


def test_snake_case(provider: Provider) -> None:
    """The names of fields are understood in both spellings."""
    assert "propertyQuota" in provider.report({**TOTAL, "return_property_quota": True})


def test_quotas_are_told_when_asked(provider: Provider) -> None:
    """A report tells what it took of each quota and what is left, when it is asked to."""
    assert "propertyQuota" not in provider.report()
    told = provider.report(by(PAGE, returnPropertyQuota=True))["propertyQuota"]
    assert told == {
        "tokensPerDay": {"consumed": 10, "remaining": 24_980},
        "tokensPerHour": {"consumed": 10, "remaining": 4_980},
        "tokensPerProjectPerHour": {"consumed": 10, "remaining": 1_730},
        "concurrentRequests": {"consumed": 0, "remaining": 9},
        "serverErrorsPerProjectPerHour": {"consumed": 0, "remaining": 10},
        "potentiallyThresholdedRequestsPerHour": {"consumed": 0, "remaining": 120},
    }


@needs_analytics_contract
def test_a_wrong_answer_is_seen() -> None:
    """The check against the contract can fail."""
    wrongs: list[Document] = [{"kind": 1}, {"row": []}, {"rows": [{"metricValues": [{"value": 3}]}]}]
    for wrong in wrongs:
        with pytest.raises(AssertionError):
            check_schema("RunRealtimeReportResponse", wrong)
