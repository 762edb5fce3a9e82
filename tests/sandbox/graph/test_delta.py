"""What changed in a folder since the last time."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.sandbox.graph.reading import IMMUTABLE, INBOX, Item, listed, refused
from tests.support.graph import GraphBox

BOB = "bob@corp.example"


@pytest.fixture
def bob(box: GraphBox) -> Iterator[httpx2.Client]:
    """Bob, who reads."""
    box.lever("reset", BOB)
    with box.client(BOB) as web:
        yield web


def round_of(bob: httpx2.Client, link: str, size: int = 2, **headers: str) -> tuple[list[Item], str]:
    """Follow a link to the end of its round, and return what came and the link of the next round."""
    found: list[Item] = []
    while True:
        answer = bob.get(link, headers={"Prefer": f"odata.maxpagesize={size}"} | headers)
        assert answer.is_success, answer.text
        page = answer.json()
        found += page["value"]
        if "@odata.deltaLink" in page:
            return found, page["@odata.deltaLink"]
        link = page["@odata.nextLink"]


def test_rounds(box: GraphBox, bob: httpx2.Client) -> None:
    """The first has all messages, the next what is new, changed, moved away and deleted, each once."""
    new = [box.arrive(BOB, subject=f"Number {number}") for number in range(4)]
    first, link = round_of(bob, f"{INBOX}/delta?$select=subject,isRead")
    assert {one["id"] for one in first} == {one["id"] for one in listed(bob, top=100)}
    assert first[0].keys() == {"@odata.type", "@odata.etag", "id", "subject", "isRead"}
    bob.patch(f"/me/messages/{new[0]['id']}", json={"isRead": True})
    box.lever("move", BOB, id=new[1]["id"], folder="archive")
    box.lever("delete", BOB, id=new[2]["id"])
    arrived = box.arrive(BOB, subject="Newest")
    changed, link = round_of(bob, link)
    removed = {one["id"] for one in changed if one.get("@removed") == {"reason": "deleted"}}
    assert removed == {new[1]["id"], new[2]["id"]}
    assert {one["id"] for one in changed} - removed == {new[0]["id"], arrived["id"]}
    assert len(changed) == 4
    assert round_of(bob, link)[0] == []


def test_immutable_ids(box: GraphBox, bob: httpx2.Client) -> None:
    """A message that is moved away is removed by the id that it came with."""
    new = box.arrive(BOB, subject="Moving on")
    _, link = round_of(bob, f"{INBOX}/delta")
    box.lever("move", BOB, id=new["id"], folder="archive")
    page = bob.get(link, headers=IMMUTABLE).json()
    assert [one["id"] for one in page["value"]] == [new["immutable_id"]]


def test_a_filtered_round_has_5000_messages(box: GraphBox, bob: httpx2.Client) -> None:
    """The rest is left out without a word: without a filter it comes."""
    box.fill(BOB, 6000)
    filtered, _ = round_of(bob, f"{INBOX}/delta?$select=id&$filter=receivedDateTime ge 2000-01-01", 1000)
    whole, _ = round_of(bob, f"{INBOX}/delta?$select=id", 1000)
    assert (len(filtered), len(whole) > 6000) == (5000, True)


@pytest.mark.parametrize("lever", ["expire", "renumber"])
def test_a_token_that_is_too_old(box: GraphBox, bob: httpx2.Client, lever: str) -> None:
    """It is refused, and the answer names where to begin again."""
    _, link = round_of(bob, f"{INBOX}/delta")
    box.lever(lever, BOB)
    answer = bob.get(link)
    assert refused(answer) == (410, "syncStateNotFound")
    assert round_of(bob, answer.headers["Location"])[0]
