"""The console: a page for people, and the levers under it."""

from pathlib import Path

import pytest

from orrery.sandbox.ground import DocumentStore
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


OTHERS = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Host": "evil.example"},
    {"Host": "127.0.0.1.evil.example"},
    {"Host": "[evil"},
]


@pytest.mark.parametrize("headers", OTHERS, ids=str)
@pytest.mark.parametrize("path", ["/_clock", "/_faults", "/_visitors", "/pay/cs_test_1", "/push/owner", "/v1/x"])
def test_another_sites_page_changes_nothing(box: Running, path: str, headers: dict[str, str]) -> None:
    """What a page elsewhere sends, or reaches under another name, is refused wherever it goes."""
    before = box.web.get("/_clock").json()["now"]
    assert box.web.post(path, data={"advance": "86400"}, headers=headers).status_code == 403
    assert box.web.get("/_clock").json()["now"] < before + 86400


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[evil", "0.0.0.0:80"])
def test_another_host_reads_nothing(box: Running, host: str) -> None:
    """A name that points here by somebody else's will shows no page."""
    for path in ("/", "/mail", "/assets/tokens.css"):
        assert box.web.get(path, headers={"Host": host}).status_code == 403


def test_the_sandboxs_own_pages_and_programs_may(box: Running) -> None:
    """Its own page sends its origin, and a program sends none; both may, under each name."""
    port = box.url.rpartition(":")[2]
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        own = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}", "Sec-Fetch-Site": "same-origin"}
        assert box.web.post("/_clock", data={"advance": "1"}, headers=HTML | own).status_code == 303
        assert box.web.post("/_clock", json={"advance": 1}, headers={"Host": f"{name}:{port}"}).status_code == 200
        hidden = own | {"Origin": "null"}  # what a browser sends from a page with the policy "no-referrer"
        assert box.web.post("/_clock", data={"advance": "1"}, headers=HTML | hidden).status_code == 303


def test_the_clock(box: Running) -> None:
    """The clock is moved forward by seconds, and shown."""
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


def test_only_its_owner_reads_what_the_sandbox_keeps(tmp_path: Path) -> None:
    """The file holds what buyers entered: no other user may read it, also one that an earlier release made."""
    file = tmp_path / "sandbox.db"
    file.touch(mode=0o644)
    state = DocumentStore(file)
    state.save({"object": "customer", "id": "cus_1"})
    assert {one.name: f"{one.stat().st_mode & 0o777:o}" for one in tmp_path.iterdir()} == {
        one.name: "600" for one in tmp_path.iterdir()
    }


def test_a_sandbox_without_a_cloud(box: Running) -> None:
    """Its page names what is missing."""
    answer = box.web.get("/cloud")
    assert (answer.status_code, "so this page is empty" in answer.text) == (404, True)
