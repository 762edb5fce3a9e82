"""What a query asks of a list of messages, and what the vendor refuses."""

import httpx2
import pytest

from tests.sandbox.graph.reading import INBOX, refused

ANN = "ann@corp.example"


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
        ({"$orderby": "mood"}, "RequestBroker--ParseUri"),
        ({"$filter": "startswith(subject, 'trip')"}, "RequestBroker--ParseUri"),
        ({"$top": "1001"}, "RequestBroker--ParseUri"),
    ],
)
def test_a_query_is_refused(ann: httpx2.Client, query: dict[str, str], code: str) -> None:
    """With the vendor's code, each."""
    assert refused(ann.get(INBOX, params=query)) == (400, code)
