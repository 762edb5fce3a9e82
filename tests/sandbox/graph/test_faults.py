"""What goes wrong when it is asked for."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from orrery.sandbox.graph.levers import ODD
from tests.sandbox.graph.reading import DRAFTS, INBOX, Item, listed, refused
from tests.support.graph import GraphBox
from tests.support.waiting import eventually

ANN, BOB = "ann@corp.example", "bob@corp.example"


@pytest.fixture
def faulty(box: GraphBox) -> Iterator[GraphBox]:
    """The sandbox, in which every fault is off when the test ends."""
    yield box
    box.clear_faults()


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("graph_401", 401, "InvalidAuthenticationToken"),
        ("graph_403", 403, "ErrorAccessDenied"),
        ("graph_503", 503, "ServiceUnavailable"),
    ],
)
def test_a_refusal(faulty: GraphBox, ann: httpx2.Client, kind: str, status: int, code: str) -> None:
    """One call is refused, and the next is answered."""
    faulty.fault(kind)
    assert refused(ann.get("/me")) == (status, code)
    assert ann.get("/me").is_success


def test_a_limited_rate(faulty: GraphBox, ann: httpx2.Client) -> None:
    """The answer says when to ask again."""
    faulty.fault("graph_429", value=30)
    limited = ann.get(INBOX)
    assert (*refused(limited), limited.headers["Retry-After"]) == (429, "ApplicationThrottled", "30")


def test_a_fault_strikes_one_account(faulty: GraphBox, ann: httpx2.Client) -> None:
    """And one of its calls, if that is asked for."""
    faulty.fault("graph_503", f"{BOB} GET /me/chats", count=None)
    with faulty.client(BOB) as bob:
        assert bob.get("/me/chats").status_code == 503
        assert bob.get(INBOX).is_success
    assert ann.get("/me/chats").is_success


def test_half_an_answer(faulty: GraphBox, ann: httpx2.Client) -> None:
    """It has status 200, and is no JSON."""
    faulty.fault("graph_half", "GET /me/mailFolders/{id}/messages")
    answer = ann.get(INBOX)
    assert answer.is_success
    with pytest.raises(json.JSONDecodeError):
        answer.json()


@pytest.mark.parametrize(("kind", "made"), [("graph_cut", 0), ("graph_hang", 0), ("graph_lost_answer", 1)])
def test_an_answer_that_does_not_come(faulty: GraphBox, ann: httpx2.Client, kind: str, made: int) -> None:
    """A draft is made, or is not; who asked cannot tell."""
    path = f"/me/messages/{listed(ann, top=1)[0]['id']}/createReply"
    before = len(listed(ann, DRAFTS, top=100))
    faulty.fault(kind, "POST ")
    with pytest.raises(httpx2.TransportError):
        ann.post(path, json={"comment": "Yes"}, timeout=1)  # nothing comes, however long one waits
    eventually(lambda: expect_met(faulty))
    assert len(listed(ann, DRAFTS, top=100)) - before == made


def expect_met(box: GraphBox) -> None:
    """Each fault has met its request."""
    assert box.web.get("/_faults").json()["active"] == []


def shown(web: httpx2.Client, box: GraphBox, odd: str) -> Item:
    """Return a message of an odd kind as it is listed."""
    box.lever("reset", BOB)
    box.arrive(BOB, odd=odd)
    return listed(web, top=1)[0]


def test_odd_messages(box: GraphBox) -> None:
    """Each is odd in its own way."""
    with box.client(BOB) as web:
        found = {odd: shown(web, box, odd) for odd in ODD}
    assert not {"from", "sender"} & found["no_from"].keys()
    assert (found["null_from"]["from"], found["null_subject"]["subject"]) == (None, None)
    assert "receivedDateTime" not in found["no_received"]
    assert found["importance"]["importance"] == "critical"
    assert found["event_message"]["@odata.type"] == "#microsoft.graph.eventMessageRequest"
    assert found["html"]["body"]["contentType"] == "html"
    assert len(found["long_subject"]["subject"]) == 1_000_000
    assert "quantumState" in found["unknown_fields"]
    assert (found["wrong_types"]["from"], "id" in found["no_id"]) == ("Mira", False)
