"""The sandbox's issue tracker by GitHub's interface, and the page on which people read it."""

import asyncio
from typing import Any

import httpx2
import pytest

from orrery.sandbox.app import SandboxConfig, create_app
from orrery.sandbox.tracker import REPOSITORY
from tests.sandbox.conftest import Running
from tests.support.clock import ManualClock

ISSUES = f"/tracker/repos/{REPOSITORY}/issues"
TOKEN = {"Authorization": "Bearer token-of-the-sandbox"}


def opened(box: Running, **fields: object) -> dict[str, Any]:
    """Open an issue."""
    answer = box.web.post(ISSUES, json={"title": "Degraded", **fields}, headers=TOKEN)
    assert answer.status_code == 201, answer.text
    return answer.json()


def numbers(box: Running, **query: str) -> list[int]:
    """Return the numbers that a list holds."""
    answer = box.web.get(ISSUES, params=query)
    assert answer.status_code == 200, answer.text
    return [one["number"] for one in answer.json()]


def test_an_issue(box: Running) -> None:
    """An opened issue has a number, an address, its labels as objects, and is read back the same."""
    answer = box.web.post(
        ISSUES, json={"title": "t", "body": "b", "labels": ["one", {"name": "two"}]}, headers=TOKEN
    )
    issue = answer.json()
    assert answer.headers["location"] == issue["url"] == f"{box.url}{ISSUES}/{issue['number']}"
    assert (issue["title"], issue["body"], issue["state"], issue["comments"]) == ("t", "b", "open", 0)
    assert [label["name"] for label in issue["labels"]] == ["one", "two"]
    assert issue["created_at"] == issue["updated_at"]
    assert issue["closed_at"] is None
    assert box.web.get(issue["url"]).json() == issue


def test_closing_and_reopening(box: Running) -> None:
    """Closing gives a time and a reason; reopening takes the time away."""
    url = opened(box)["url"]
    closed = box.web.patch(url, json={"state": "closed"}, headers=TOKEN).json()
    assert (closed["state"], closed["state_reason"], closed["closed_at"] is None) == ("closed", "completed", False)
    again = box.web.patch(url, json={"state": "open"}, headers=TOKEN).json()
    assert (again["state"], again["state_reason"], again["closed_at"]) == ("open", "reopened", None)


def test_comments(box: Running) -> None:
    """A comment is answered with its text and counted in the issue."""
    issue = opened(box)
    answer = box.web.post(issue["comments_url"], json={"body": "Still."}, headers=TOKEN)
    assert (answer.status_code, answer.json()["body"]) == (201, "Still.")
    assert [one["body"] for one in box.web.get(issue["comments_url"]).json()] == ["Still."]
    assert box.web.get(issue["url"]).json()["comments"] == 1


def test_the_list(box: Running) -> None:
    """The list filters by state and by every label, whatever their case, newest first unless asked otherwise."""
    one, two, three = (opened(box, labels=labels) for labels in (["list-a"], ["list-a", "list-b"], ["list-a"]))
    box.web.patch(three["url"], json={"state": "closed"}, headers=TOKEN)
    assert numbers(box, labels="List-A") == [two["number"], one["number"]]
    assert numbers(box, labels="list-a,list-b") == [two["number"]]
    assert numbers(box, labels="list-a", state="closed") == [three["number"]]
    everything = [one["number"], two["number"], three["number"]]
    assert numbers(box, labels="list-a", state="all", direction="asc") == everything


def test_pages(box: Running) -> None:
    """A list comes in pages with links to the next, and has 30 a page unless asked otherwise."""
    made = [opened(box, labels=["paged"])["number"] for _ in range(31)]
    seen, url, pages = list[int](), f"{ISSUES}?labels=paged&per_page=10", 0
    while url:
        answer = box.web.get(url)
        seen += [one["number"] for one in answer.json()]
        url, pages = answer.links.get("next", {}).get("url", ""), pages + 1
    assert (sorted(seen), pages) == (made, 4)
    assert len(numbers(box, labels="paged")) == 30
    assert "link" not in box.web.get(f"{ISSUES}?labels=paged&per_page=100").headers


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "message"),
    [
        ("GET", f"{ISSUES}/999999", "", 404, "Not Found"),
        ("GET", "/tracker/repos/orrery/other/issues", "", 404, "Not Found"),
        ("GET", "/tracker/user", "", 404, "Not Found"),
        ("GET", f"{ISSUES}?state=moon", "", 422, "Validation Failed"),
        ("POST", f"{ISSUES}/999999/comments", '{"body": "b"}', 404, "Not Found"),
        ("POST", ISSUES, "{", 400, "Problems parsing JSON"),
        ("POST", ISSUES, "[]", 400, "Problems parsing JSON"),
        ("POST", ISSUES, "{}", 422, "Validation Failed"),
        ("POST", ISSUES, '{"title": " "}', 422, "Validation Failed"),
        ("POST", ISSUES, '{"title": "t", "labels": 1}', 422, "Invalid request."),
        ("POST", ISSUES, '{"title": "' + "x" * 257 + '"}', 422, "Validation Failed"),
        ("POST", ISSUES, '{"title": "t", "body": "' + "x" * 65_537 + '"}', 422, "Validation Failed"),
    ],
)
def test_refusals(box: Running, method: str, path: str, content: str, status: int, message: str) -> None:
    """What GitHub would refuse is refused with its status and shape, and nothing is kept."""
    before = numbers(box, state="all", per_page="100")
    answer = box.web.request(method, path, content=content, headers=TOKEN)
    assert (answer.status_code, answer.json()["status"]) == (status, str(status))
    assert answer.json()["message"].startswith(message)
    assert numbers(box, state="all", per_page="100") == before


def test_without_a_token(box: Running) -> None:
    """Anyone who shows no token may read but not write."""
    answer = box.web.post(ISSUES, json={"title": "t"})
    assert (answer.status_code, answer.json()["message"]) == (401, "Requires authentication")
    assert box.web.get(ISSUES).status_code == 200


def test_with_a_wrong_token() -> None:
    """With a token configured, no other is taken, for reading neither."""
    config = SandboxConfig("http://127.0.0.1:1", {}, (), smtp_port=None, tracker_token="right-token")  # noqa: S106  a test's own text
    app = create_app(config, ManualClock(), lambda seconds: seconds)

    async def statuses() -> list[int]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url=config.base_url) as client:
            shown = [{"Authorization": f"Bearer {token}"} for token in ("right-token", "wrong-token")]
            answers = [await client.get(ISSUES, headers=headers) for headers in shown]
            return [answer.status_code for answer in answers]

    assert asyncio.run(statuses()) == [200, 401]


def test_the_page(box: Running) -> None:
    """People read issues and comments as text, newest first; programs read the same as JSON."""
    issue = opened(box, title="<i>Shown</i>", body="<b>body</b>", labels=["realtime-degraded"])
    box.web.post(issue["comments_url"], json={"body": "<u>text</u>"}, headers=TOKEN)
    page = box.web.get("/tracker", headers={"Accept": "text/html"}).text
    for text in (
        "&lt;i&gt;Shown&lt;/i&gt;",
        "&lt;b&gt;body&lt;/b&gt;",
        "&lt;u&gt;text&lt;/u&gt;",
        "realtime-degraded",
    ):
        assert text in page
    assert f'id="issue-{issue["number"]}"' in page
    newest = box.web.get("/tracker", headers={"Accept": "application/json"}).json()[0]
    assert (newest["number"], newest["comments"][0]["body"]) == (issue["number"], "<u>text</u>")
