"""The console: a page for people, and the levers under it."""

from pathlib import Path

import pytest

from orrery.sandbox.state import State
from tests.sandbox.conftest import PRICE, Running, until

HTML = {"Accept": "text/html,*/*"}


def test_the_page(box: Running) -> None:
    """The page shows sessions, charges, events with their delivery, prices, faults and the clock."""
    session = box.session()
    box.pay(session, verdict="delayed")
    until(lambda: not box.deliveries("pending"))
    box.fault("latency")
    page = box.web.get("/", headers=HTML)
    assert page.status_code == 200
    for shown in (
        session["id"],
        PRICE,
        "checkout.session.completed",
        "delivered",
        "latency",
        "49.00 USD",
        "Settle",
    ):
        assert shown in page.text
    assert "<script" not in page.text


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/_faults", {"kind": "latency", "count": "1", "value": "", "path": ""}),
        ("/_faults", {"off": "latency"}),
        ("/_clock", {"advance": "60"}),
        ("/_price", {"id": PRICE, "unit_amount": "4900"}),
    ],
)
def test_the_buttons(box: Running, path: str, data: dict[str, str]) -> None:
    """A button, which sends a form, leads back to the page."""
    answer = box.web.post(path, data=data, headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_the_buttons_of_a_sale(box: Running) -> None:
    """Settle, refund and dispute are buttons as well."""
    session = box.session()
    box.pay(session, verdict="delayed", email="buttons@example.org")
    assert box.web.post(f"/_settle/{session['id']}", data={"paid": "true"}, headers=HTML).status_code == 303
    found = box.get("/v1/charges").json()["data"]
    [charge] = [one for one in found if one["billing_details"]["email"] == "buttons@example.org"]
    for deed in ("dispute", "win", "refund"):
        assert box.web.post(f"/_charges/{charge['id']}/{deed}", data={}, headers=HTML).status_code == 303


def test_the_clock(box: Running) -> None:
    """The clock is moved forward by seconds, and tells where it is."""
    before = box.web.get("/_clock").json()["now"]
    after = box.web.post("/_clock", json={"advance": 3600}).json()["now"]
    assert 3600 <= after - before < 3660
    assert box.session()["created"] >= int(after)


@pytest.mark.parametrize("advance", [-1, "soon", None, "nan"])
def test_wrong_clocks(box: Running, advance: object) -> None:
    """The clock is not moved back, nor by what is no number."""
    assert box.web.post("/_clock", json={"advance": advance}).status_code == 400


@pytest.mark.parametrize("given", [{"unit_amount": -1}, {"unit_amount": "much"}])
def test_wrong_prices(box: Running, given: dict[str, object]) -> None:
    """A price has an amount of zero or more."""
    assert box.web.post("/_price", json={"id": PRICE, **given}).status_code == 400


def test_prices_switched_off(box: Running) -> None:
    """A price can be made inactive and active again."""
    for active in (False, True):
        assert box.web.post("/_price", json={"id": PRICE, "active": active}).json()["active"] is active


def test_no_such_session(box: Running) -> None:
    """Settling what does not exist is a 404."""
    assert box.web.post("/_settle/cs_test_none").status_code == 404


def test_only_its_owner_reads_what_the_sandbox_keeps(tmp_path: Path) -> None:
    """The file holds what buyers entered: nobody else may read it, also one that an earlier release made."""
    file = tmp_path / "sandbox.db"
    file.touch(mode=0o644)
    state = State(file)
    state.save({"object": "customer", "id": "cus_1"})
    assert {one.name: f"{one.stat().st_mode & 0o777:o}" for one in tmp_path.iterdir()} == {
        one.name: "600" for one in tmp_path.iterdir()
    }
