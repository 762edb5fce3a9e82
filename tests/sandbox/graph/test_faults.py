"""What goes wrong when it is asked for."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.sandbox.graph.reading import INBOX, Item, listed, refused
from tests.support.graph import GraphBox

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


def test_a_fault_strikes_one_account(faulty: GraphBox, ann: httpx2.Client) -> None:
    """And one of its calls, if that is asked for."""
    faulty.fault("graph_503", f"{BOB} GET /me/chats", count=None)
    with faulty.client(BOB) as bob:
        assert bob.get("/me/chats").status_code == 503
        assert bob.get(INBOX).is_success
    assert ann.get("/me/chats").is_success


def expect_met(box: GraphBox) -> None:
    """Each fault has struck its request."""
    assert box.web.get("/_faults").json()["active"] == []


def shown(web: httpx2.Client, box: GraphBox, odd: str) -> Item:
    """Return a message of a malformed kind as it is listed."""
    box.lever("reset", BOB)
    box.arrive(BOB, odd=odd)
    return listed(web, top=1)[0]
