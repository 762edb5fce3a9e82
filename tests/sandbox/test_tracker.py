"""The sandbox's issue tracker: the page on which people read it; our adapter is driven against its interface."""

from orrery.sandbox.tracker import REPOSITORY
from tests.support.running_sandbox import Running

ISSUES = f"/tracker/repos/{REPOSITORY}/issues"
TOKEN = {"Authorization": "Bearer token-of-the-sandbox"}


def test_the_page(box: Running) -> None:
    """People read issues and comments as text, newest first; programs read the same as JSON."""
    sent = {"title": "<i>Shown</i>", "body": "<b>body</b>", "labels": ["realtime-degraded"]}
    issue = box.web.post(ISSUES, json=sent, headers=TOKEN).json()
    box.web.post(issue["comments_url"], json={"body": "<u>text</u>"}, headers=TOKEN)
    page = box.web.get("/tracker", headers={"Accept": "text/html"}).text
    shown = ("&lt;i&gt;Shown&lt;/i&gt;", "&lt;b&gt;body&lt;/b&gt;", "&lt;u&gt;text&lt;/u&gt;", "realtime-degraded")
    assert [one for one in (*shown, f'id="issue-{issue["number"]}"') if one not in page] == []
    newest = box.web.get("/tracker", headers={"Accept": "application/json"}).json()[0]
    assert (newest["number"], newest["comments"][0]["body"]) == (issue["number"], "<u>text</u>")


REFUSED: list[tuple[str, str, dict[str, str], int]] = [
    (f"{ISSUES}/999999/comments", '{"body": "b"}', TOKEN, 404),
    ("/tracker/repos/orrery/other/issues", '{"title": "t"}', TOKEN, 404),
    (ISSUES, '{"title": "t"}', {}, 401),
]


def test_refusals(box: Running) -> None:
    """What GitHub would refuse is refused with its status and shape."""
    for path, content, headers, status in REFUSED:
        answer = box.web.post(path, content=content, headers=headers)
        assert (answer.status_code, answer.json()["status"]) == (status, str(status))
