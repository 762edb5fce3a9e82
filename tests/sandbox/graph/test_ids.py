"""Ids of messages: which change with a move, and which do not."""

import httpx2

from tests.sandbox.graph.reading import IMMUTABLE, listed, refused
from tests.support.graph import GraphBox

ANN = "ann@corp.example"


def test_a_move_changes_the_ordinary_id(box: GraphBox, ann: httpx2.Client) -> None:
    """The immutable one leads to the message before and after, whatever the answer has."""
    ids = box.arrive(ANN, subject="Moving")
    moved = box.lever("move", ANN, id=ids["id"], folder="archive")
    assert (moved["id"] != ids["id"], moved["immutable_id"]) == (True, ids["immutable_id"])
    assert refused(ann.get(f"/me/messages/{ids['id']}")) == (404, "ErrorItemNotFound")
    path = f"/me/messages/{ids['immutable_id']}"
    assert ann.get(path).json()["id"] == moved["id"]
    assert ann.get(path, headers=IMMUTABLE).json()["id"] == ids["immutable_id"]


def test_a_mailbox_that_is_moved_has_other_ids(box: GraphBox, ann: httpx2.Client) -> None:
    """None of those from before leads anywhere."""
    ids = box.arrive(ANN, subject="Renumbered")
    box.lever("renumber", ANN)
    for one in (ids["id"], ids["immutable_id"]):
        assert refused(ann.get(f"/me/messages/{one}")) == (404, "ErrorItemNotFound")
    assert "Renumbered" in {one["subject"] for one in listed(ann, top=100)}


def test_capitals_tell_ids_apart(box: GraphBox, ann: httpx2.Client) -> None:
    """Two messages have ids that differ in a capital only."""
    ids = {box.arrive(ANN, subject=f"Twin {number}")["id"] for number in range(3)}
    assert len({one.lower() for one in ids}) == 2
    assert {ann.get(f"/me/messages/{one}").json()["id"] for one in ids} == ids


def test_no_id(ann: httpx2.Client) -> None:
    """What cannot be an id is another error than what is none any more."""
    assert refused(ann.get("/me/messages/17")) == (400, "ErrorInvalidIdMalformed")
