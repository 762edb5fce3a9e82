"""The console: a page for people, and the levers under it."""

from itertools import product
from pathlib import Path

from orrery.sandbox.ground import DocumentStore
from tests.support.running_sandbox import Running

HTML = {"Accept": "text/html,*/*"}


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


PLACES = ("/_clock", "/_faults", "/_visitors", "/pay/cs_test_1", "/push/owner", "/v1/x")


def test_another_sites_page_changes_nothing(box: Running) -> None:
    """What a page elsewhere sends, or reaches under another name, is refused wherever it goes."""
    before = box.web.get("/_clock").json()["now"]
    for path, headers in product(PLACES, OTHERS):
        answer = box.web.post(path, data={"advance": "86400"}, headers=headers)
        assert (path, headers, answer.status_code) == (path, headers, 403)
    assert box.web.get("/_clock").json()["now"] < before + 86400


def test_another_host_reads_nothing(box: Running) -> None:
    """A name that points here by somebody else's will shows no page."""
    hosts = ("evil.example", "127.0.0.1.evil.example", "[evil", "0.0.0.0:80")
    for path, host in product(("/", "/mail", "/assets/tokens.css"), hosts):
        assert (host, box.web.get(path, headers={"Host": host}).status_code) == (host, 403)


def test_the_sandboxs_own_pages_and_programs_may(box: Running) -> None:
    """Its own page sends its origin, and a program sends none; both may, under each name."""
    port = box.url.rpartition(":")[2]
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        own = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}", "Sec-Fetch-Site": "same-origin"}
        assert box.web.post("/_clock", data={"advance": "1"}, headers=HTML | own).status_code == 303
        assert box.web.post("/_clock", json={"advance": 1}, headers={"Host": f"{name}:{port}"}).status_code == 200
        hidden = own | {"Origin": "null"}  # what a browser sends from a page with the policy "no-referrer"
        assert box.web.post("/_clock", data={"advance": "1"}, headers=HTML | hidden).status_code == 303


def test_only_its_owner_reads_what_the_sandbox_keeps(tmp_path: Path) -> None:
    """The file holds what buyers entered: no other user may read it, also one that an earlier release made."""
    file = tmp_path / "sandbox.db"
    file.touch(mode=0o644)
    state = DocumentStore(file)
    state.save({"object": "customer", "id": "cus_1"})
    assert {one.name: f"{one.stat().st_mode & 0o777:o}" for one in tmp_path.iterdir()} == {
        one.name: "600" for one in tmp_path.iterdir()
    }
