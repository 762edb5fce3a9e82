"""The answers and the scopes against what the vendor publishes."""

import json

import httpx2

from orrery.sandbox.graph.api import OPERATIONS, SENDS
from tests.sandbox.graph.contract import PERMISSIONS, check_answer, needs_contract, operations
from tests.support.graph import GraphBox

DAY = {"startDateTime": "2000-01-01T00:00:00Z", "endDateTime": "2100-01-01T00:00:00Z", "$top": 100}
ELSEWHERE = {
    "GET /me/calendarView": "GET /me/calendar/calendarview",
}
"""Where the vendor publishes the scopes of a call under another address."""

NOT_ASKED = {"GET /me/messages", "GET /chats/{chat-id}/messages"}
"""Calls that are described and that no client of ours makes."""

NOT_IN_THE_EXCERPT = {"GET /me/messages/{id}/attachments"}
"""Calls that the vendor publishes scopes of, which our excerpt of its list does not have."""


def one_of_each(web: httpx2.Client) -> list[httpx2.Response]:
    """Make each call that is described, and return the answers."""
    inbox = web.get("/me/mailFolders/inbox/messages", params={"$top": 50, "$count": "true"})
    message = f"/me/messages/{inbox.json()['value'][0]['id']}"
    chats = web.get("/me/chats", params={"$expand": "members,lastMessagePreview"})
    first = chats.json()["value"][0]
    lists = web.get("/me/todo/lists")
    tasks = f"/me/todo/lists/{lists.json()['value'][0]['id']}/tasks"
    task = web.post(tasks, json={"title": "Answer", "linkedResources": [{"externalId": "1"}]})
    one_task = f"{tasks}/{task.json()['id']}"
    return [
        web.get("/me"),
        inbox,
        web.get(message),
        web.patch(message, json={"isRead": False}),
        web.post(f"{message}/createReply", json={"comment": "Yes"}),
        chats,
        web.get(f"/chats/{first['id']}/messages/{first['lastMessagePreview']['id']}"),
        web.get("/me/calendarView", params=DAY),
        lists,
        web.post("/me/todo/lists", json={"displayName": "Cockpit"}),
        task,
        web.get(tasks, params={"$expand": "linkedResources"}),
        web.patch(one_task, json={"status": "completed"}),
        web.post(f"{one_task}/linkedResources", json={"externalId": "1"}),
        web.get("/me/messages/short"),
    ]


@needs_contract
def test_answers_are_those_of_the_description(box: GraphBox) -> None:
    """Each operation that is described gives its status, and those fields and no other."""
    seen: set[str] = set()
    for account in ("ann@corp.example", "ann@lab.example"):
        with box.client(account) as web:
            seen |= {check_answer(one) for one in one_of_each(web)}
    assert operations() - seen == NOT_ASKED


@needs_contract
def test_scopes_are_those_that_are_published() -> None:
    """Each call that the vendor publishes scopes of takes those."""
    published = json.loads(PERMISSIONS.read_text(encoding="utf-8"))
    found: set[str] = set()
    for call, scopes in ((one.call, one.right) for one in OPERATIONS):
        known = published.get(ELSEWHERE.get(call, f"{call.partition(' ')[0]} {call.partition(' ')[2].lower()}"))
        if known is not None:
            assert (call, sorted(scopes)) == (call, sorted(one.rstrip("*") for one in known["DelegatedWork"]))
            found.add(call)
    assert found >= {one.call for one in OPERATIONS} - SENDS - NOT_IN_THE_EXCERPT
