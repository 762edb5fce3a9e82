"""Messages of a mailbox, as any client reads and changes them."""

from http import HTTPStatus
from typing import Any

import httpx2
import pytest

from tests.support.graph import GraphBox

INBOX = "/me/mailFolders/inbox/messages"
Message = dict[str, Any]


def listed(web: httpx2.Client, **query: str | int) -> list[Message]:
    """Return the messages of the inbox."""
    answer = web.get(INBOX, params={f"${name}": value for name, value in query.items()})
    assert answer.is_success, answer.text
    return answer.json()["value"]


def named(web: httpx2.Client, subject: str) -> Message:
    """Return the message with that subject."""
    [message] = [one for one in listed(web, top=1000) if one["subject"] == subject]
    return message


def refused(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status and the code of a refusal, which names its request."""
    error = answer.json()["error"]
    assert error["innerError"].keys() == {"date", "request-id", "client-request-id"}
    assert answer.headers["request-id"] == error["innerError"]["request-id"]
    return answer.status_code, error["code"]


def test_pages_follow_their_links(ann: httpx2.Client) -> None:
    """Each link leads to the next messages, with what was asked for; the newest comes first."""
    answer = ann.get(INBOX, params={"$top": 3, "$select": "subject,receivedDateTime"}).json()
    seen = list(answer["value"])
    while "@odata.nextLink" in answer:
        answer = ann.get(answer["@odata.nextLink"]).json()
        seen += answer["value"]
    assert seen[0].keys() == {"@odata.etag", "id", "subject", "receivedDateTime"}
    assert [one["subject"] for one in seen] == [one["subject"] for one in listed(ann, top=1000)]
    times = [one["receivedDateTime"] for one in seen]
    assert times == sorted(times, reverse=True)


def test_a_reply_is_drafted_and_its_original_read(ann: httpx2.Client) -> None:
    """The draft goes to the sender with the text above what it answers; the original is not unread any more."""
    original = named(ann, "Offer for the museum")
    answer = ann.post(f"/me/messages/{original['id']}/createReply", json={"comment": "On Friday."})
    draft = answer.json()
    assert (answer.status_code, draft["isDraft"], draft["subject"]) == (201, True, "Re: Offer for the museum")
    assert draft["toRecipients"] == [original["from"]]
    assert "On Friday." in draft["body"]["content"]
    assert draft["conversationId"] == original["conversationId"]
    assert not original["isRead"]
    assert ann.get(f"/me/messages/{original['id']}").json()["isRead"]


def test_a_reply_has_one_text(ann: httpx2.Client) -> None:
    """A comment together with a body is refused, and makes no draft."""
    path = f"/me/messages/{named(ann, 'Lunch?')['id']}/createReply"
    both = {"comment": "Yes", "message": {"body": {"contentType": "text", "content": "Yes"}}}
    drafts = ann.get("/me/mailFolders/drafts/messages").json()["value"]
    assert refused(ann.post(path, json=both)) == (400, "BadRequest")
    assert ann.get("/me/mailFolders/drafts/messages").json()["value"] == drafts


def test_a_change_names_the_version_that_it_saw(ann: httpx2.Client) -> None:
    """With an older etag it is refused."""
    message = named(ann, "Trip to Lisbon")
    path, seen = f"/me/messages/{message['id']}", {"If-Match": message["@odata.etag"]}
    changed = ann.patch(path, json={"isRead": True}, headers=seen)
    assert (changed.status_code, changed.json()["isRead"]) == (200, True)
    assert refused(ann.patch(path, json={"isRead": False}, headers=seen)) == (412, "ErrorIrresolvableConflict")
    assert ann.patch(path, json={"isRead": False}).is_success


@pytest.mark.parametrize(
    ("call", "scopes"),
    [("GET /me", "Mail.Read"), (f"GET {INBOX}", "User.Read"), ("POST /me/messages", "Mail.Read")],
)
def test_a_scope_is_missing(box: GraphBox, call: str, scopes: str) -> None:
    """The call is forbidden."""
    method, path = call.split()
    with box.client("bob@corp.example", scopes) as web:
        assert web.request(method, path, json={}).status_code == HTTPStatus.FORBIDDEN


def test_a_token_lasts_an_hour(box: GraphBox) -> None:
    """By the sandbox's clock."""
    with box.client("bob@corp.example") as web:
        assert web.get("/me").json()["mail"] == "bob@corp.example"
        box.clock.advance(3601)
        assert refused(web.get("/me")) == (401, "InvalidAuthenticationToken")


def test_calls_are_counted(box: GraphBox, ann: httpx2.Client) -> None:
    """By account, method and path template."""
    before = box.calls("ann@corp.example")
    message = listed(ann, top=1)[0]
    ann.get(f"/me/messages/{message['id']}")
    seen = box.calls("ann@corp.example") - before
    assert seen == {"GET /me/mailFolders/{id}/messages": 1, "GET /me/messages/{id}": 1}
