"""The page of the accounts, and what stays over a restart."""

from http import HTTPStatus
from pathlib import Path

import httpx2

from tests.sandbox.graph.reading import INBOX, listed
from tests.support.graph import GraphBox, graph

ANN = "ann@corp.example"
HTML = {"Accept": "text/html"}


def test_the_page(box: GraphBox, ann: httpx2.Client) -> None:
    """It shows the accounts and the calls; a button delivers a message, a malformed one if that is chosen."""
    before = len(listed(ann, top=1000))
    for odd in ({}, {"odd": "null_subject"}):
        form = {"account": ANN, **odd}
        assert box.web.post("/_graph/deliver", data=form, headers=HTML).status_code == HTTPStatus.SEE_OTHER
    page = box.web.get("/mail-accounts").text
    assert all(word in page for word in (ANN, "ann@lab.example", "GET /me/mailFolders/{id}/messages"))
    assert len(listed(ann, top=1000)) == before + 2


def test_what_is_known_stays(tmp_path: Path) -> None:
    """The next process over the same folder has the same messages with the same ids, and no older tokens."""
    seen: list[list[str]] = []
    links: list[str] = []
    for turn in range(2):
        with graph(tmp_path) as box, box.client(ANN) as web:
            if turn == 0:
                box.fill(ANN, 20)
                deleted = listed(web, top=1)[0]
                box.lever("delete", ANN, id=deleted["id"])
                web.patch(f"/me/messages/{listed(web)[0]['id']}", json={"isRead": True})
            seen.append([one["@odata.etag"] + one["id"] for one in listed(web, top=1000)])
            query = {"Prefer": "odata.maxpagesize=1000"}
            links.append(web.get(f"{INBOX}/delta", headers=query).json()["@odata.deltaLink"].partition("/v1.0")[2])
            assert web.get(links[0]).status_code == (200, 410)[turn]
    assert seen[0] == seen[1]
