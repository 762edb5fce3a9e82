"""What a query asks of a list of messages, and what the vendor refuses."""

import httpx2
import pytest

from tests.sandbox.graph.reading import INBOX, listed, refused
from tests.support.graph import GraphBox

ANN = "ann@corp.example"


def test_a_filter_by_time(ann: httpx2.Client) -> None:
    """Both bounds, in any time zone, newest first."""
    times = sorted((one["receivedDateTime"] for one in listed(ann, top=1000)), reverse=True)
    asked = f"receivedDateTime ge {times[-2]} and receivedDateTime lt {times[0]}"
    found = listed(ann, filter=asked, orderby="receivedDateTime desc", top=1000)
    assert [one["receivedDateTime"] for one in found] == times[1:-1]
    assert listed(ann, filter=f"receivedDateTime ge {times[0].replace('Z', '-12:00')}") == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"$filter": "isRead eq false", "$orderby": "receivedDateTime desc"}, "InefficientFilter"),
        (
            {"$filter": "isRead eq false and receivedDateTime ge 2020-01-01", "$orderby": "receivedDateTime desc"},
            "InefficientFilter",
        ),
        ({"$filter": "isRead eq"}, "RequestBroker--ParseUri"),
        ({"$filter": "mood eq 'good'"}, "RequestBroker--ParseUri"),
        ({"$select": "mood"}, "RequestBroker--ParseUri"),
        ({"$orderby": "mood"}, "RequestBroker--ParseUri"),
        ({"$filter": "startswith(subject, 'trip')"}, "RequestBroker--ParseUri"),
        ({"$filter": "isRead eq true or isDraft eq true and isRead eq true"}, "RequestBroker--ParseUri"),
        ({"$top": "1001"}, "RequestBroker--ParseUri"),
    ],
)
def test_a_query_is_refused(ann: httpx2.Client, query: dict[str, str], code: str) -> None:
    """With the vendor's code, each."""
    assert refused(ann.get(INBOX, params=query)) == (400, code)


def test_a_large_mailbox(box: GraphBox, ann: httpx2.Client) -> None:
    """Of 50,000 messages the last page is the last: none is missing, none comes twice."""
    box.lever("reset", ANN)
    box.fill(ANN, 50_000)
    seen: list[str] = []
    link = f"{INBOX}?$top=1000&$select=id"
    while link:
        page = ann.get(link).json()
        seen += [one["id"] for one in page["value"]]
        link = page.get("@odata.nextLink")
    assert len(seen) == len(set(seen)) > 50_000
    assert box.lever("reset", ANN) == {}
