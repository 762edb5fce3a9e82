"""The fault switches, as a client of the processor sees them."""

import pytest

from tests.sandbox.conftest import KEY, Running

PATH = "/v1/checkout/sessions"
HEADERS = {"Authorization": f"Bearer {KEY}"}


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
