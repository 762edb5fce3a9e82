"""Reading what Microsoft Graph answers."""

from typing import Any

import httpx2

INBOX = "/me/mailFolders/inbox/messages"
DRAFTS = "/me/mailFolders/drafts/messages"
IMMUTABLE = {"Prefer": 'IdType="ImmutableId"'}

Item = dict[str, Any]


def listed(web: httpx2.Client, path: str = INBOX, **query: object) -> list[Item]:
    """Return the items of one page."""
    answer = web.get(path, params={f"${name}": str(value) for name, value in query.items()})
    assert answer.is_success, answer.text
    return answer.json()["value"]


def named(web: httpx2.Client, subject: str, path: str = INBOX) -> Item:
    """Return the message with that subject."""
    [message] = [one for one in listed(web, path, top=1000) if one.get("subject") == subject]
    return message


def refused(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status and the code of a refusal, which names its request."""
    error = answer.json()["error"]
    assert error["innerError"].keys() == {"date", "request-id", "client-request-id"}
    assert answer.headers["request-id"] == error["innerError"]["request-id"]
    return answer.status_code, error["code"]
