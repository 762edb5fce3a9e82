"""Chats, and To Do."""

import httpx2

from tests.sandbox.graph.reading import listed, refused
from tests.support.graph import GraphBox

ANN = "ann@corp.example"


def test_chats_with_their_last_message(box: GraphBox, ann: httpx2.Client) -> None:
    """Page by page, where that is asked for; a chat may have none, and one of the system has no sender."""
    query = {"$top": 3, "$expand": "lastMessagePreview,members"}
    first = ann.get("/me/chats", params=query).json()
    second = ann.get(first["@odata.nextLink"]).json()
    chats = first["value"] + second["value"]
    previews = [one["lastMessagePreview"] for one in chats]
    assert None in previews
    assert "systemEventMessage" in {one["messageType"] for one in previews if one and one["from"] is None}
    assert any(one["email"] is None for chat in chats for one in chat["members"])
    assert "lastMessagePreview" not in listed(ann, "/me/chats")[0]
    sent = box.lever("chat", ANN, chat=chats[0]["id"], text="<p>Are you there?</p>", sender="Tomás Ortega")
    newest = listed(ann, "/me/chats", expand="lastMessagePreview")[0]["lastMessagePreview"]
    assert (newest["id"], newest["from"]["user"]["displayName"]) == (sent["id"], "Tomás Ortega")


def test_who_wrote_is_a_member(box: GraphBox, ann: httpx2.Client) -> None:
    """By the same id; the account itself has that of its profile."""
    senders = ("Mira Solberg", ANN)
    sent = [box.lever("chat", ANN, chat="Museum offer", text="Hello", sender=one)["id"] for one in senders]
    [chat] = [one for one in listed(ann, "/me/chats", expand="members") if one["topic"] == "Museum offer"]
    other, own = (ann.get(f"/chats/{chat['id']}/messages/{one}").json() for one in sent)
    members = {one["userId"]: one["email"] for one in chat["members"]}
    assert own["from"]["user"]["id"] == ann.get("/me").json()["id"]
    assert members[own["from"]["user"]["id"]] == ANN
    assert members[other["from"]["user"]["id"]] == "mira.solberg@northwind.example"


def test_pages_of_chats_are_small(ann: httpx2.Client) -> None:
    """At most 50; more is refused."""
    assert refused(ann.get("/me/chats", params={"$top": "51"})) == (400, "BadRequest")


def test_a_link_is_not_unique(ann: httpx2.Client) -> None:
    """Two tasks with one external id: nothing refuses the second. Links are shown where they are asked for."""
    path = f"/me/todo/lists/{listed(ann, '/me/todo/lists')[0]['id']}/tasks"
    linked = {"title": "Answer Mira", "linkedResources": [{"externalId": "row-1", "applicationName": "Orrery"}]}
    made = [ann.post(path, json=linked) for _ in range(2)]
    assert {one.status_code for one in made} == {201}
    found = listed(ann, path, expand="linkedResources")
    links = [one["linkedResources"][0]["externalId"] for one in found if one["title"] == "Answer Mira"]
    assert links == ["row-1", "row-1"]
    assert "linkedResources" not in listed(ann, path)[0]
    done = ann.patch(f"{path}/{made[0].json()['id']}", json={"status": "completed"}).json()
    assert (done["status"], "completedDateTime" in done) == ("completed", True)
