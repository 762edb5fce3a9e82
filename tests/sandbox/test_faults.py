"""The fault switches, as a client of the processor sees them."""

import pytest

from tests.sandbox.conftest import KEY, SESSION, Running
from tests.sandbox.held import CUT, late

PATH = "/v1/checkout/sessions"
HEADERS = {"Authorization": f"Bearer {KEY}"}


def made(box: Running) -> int:
    """Return how many sessions there are."""
    return len(list(box.sandbox.state.newest_first("checkout.session")))


def test_the_switches(box: Running) -> None:
    """Switches are listed with what they do, switched on with POST and off with DELETE, one kind or all."""
    box.fault("server_error", count=3)
    box.fault("latency", value=0.1, path="/v1/charges")
    shown = box.web.get("/_faults").json()
    assert [(one["kind"], one["count"], one["path"], one["value"]) for one in shown["active"]] == [
        ("server_error", 3, "", None),
        ("latency", 1, "/v1/charges", 0.1),
    ]
    assert set(shown["kinds"]) > {"cut", "lost_answer", "webhook_duplicate", "unpaid", "mail_451", "push_500"}
    box.web.delete("/_faults?kind=latency")
    assert [one["kind"] for one in box.web.get("/_faults").json()["active"]] == ["server_error"]
    box.web.delete("/_faults")
    assert box.web.get("/_faults").json()["active"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "moon"},
        {},
        {"kind": "cut", "count": -1},
        {"kind": "cut", "count": "x"},
        {"kind": "cut", "value": -1},
        {"kind": "cut", "times": 0},
    ],
)
def test_wrong_switches(box: Running, wrong: dict[str, object]) -> None:
    """A switch that does not exist, or a figure out of range, is refused with a sentence."""
    answer = box.web.post("/_faults", json=wrong)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert box.web.get("/_faults").json()["active"] == []


def test_how_often(box: Running) -> None:
    """A fault strikes as often as asked; with a count of null, until it is switched off."""
    box.fault("rate_limit", count=2)
    assert [box.get("/v1/balance").status_code for _ in range(3)] == [429, 429, 200]
    box.fault("rate_limit", count=None)
    assert [box.get("/v1/balance").status_code for _ in range(3)] == [429, 429, 429]


def test_where(box: Running) -> None:
    """A fault with a path strikes there only."""
    box.fault("server_error", path="/v1/charges")
    assert box.get("/v1/balance").status_code == 200
    assert box.get("/v1/charges").status_code == 500


@pytest.mark.parametrize(("kind", "status"), [("html_200", 200), ("html_502", 502)])
def test_html(box: Running, kind: str, status: int) -> None:
    """Something in front of the processor answers HTML, and nothing was made."""
    box.fault(kind)
    before = made(box)
    answer = box.post(PATH, SESSION)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert made(box) == before


@pytest.mark.parametrize(("kind", "more"), [("cut", 0), ("cut_after", 1)])
def test_cut_connections(box: Running, kind: str, more: int) -> None:
    """The connection ends without an answer: before the session was made, or after it."""
    box.fault(kind)
    before = made(box)
    with pytest.raises(CUT):
        box.post(PATH, SESSION)
    assert made(box) - before == more


def test_answers_that_come_late(box: Running) -> None:
    """The session was made, and its answer comes after the given seconds."""
    before = made(box)
    box.fault("lost_answer", value=60)
    answer = late(box.web, 60, PATH, data=SESSION, headers=HEADERS)
    assert answer.json()["object"] == "checkout.session"
    assert made(box) == before + 1
