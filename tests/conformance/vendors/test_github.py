"""GitHub's issues by their adapter: what is sent, and the one sentence for each way to fail."""

import asyncio
import json
import socket
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.adapters.github import SECONDS, GitHubTracker
from orrery.errors import NotConfigured
from orrery.ports.tracker import Issue, TrackerFailed
from orrery.sandbox.tracker import REPOSITORY
from tests.support.hasty_loop import run_ahead
from tests.support.logged import logged
from tests.support.running_sandbox import Running
from tests.support.serving import served
from tests.support.tables import each_case

TOKEN = "marked-token-of-the-sandbox"  # noqa: S105  a test's own text
LABEL = "realtime-degraded"
ISSUE: dict[str, object] = {"number": 7, "html_url": "https://example.org/7", "labels": [{"name": LABEL}]}


@dataclass
class GitHub:
    """A tiny stand-in that gives one answer to everything and keeps what it was asked."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    asked: list[tuple[str, str, Mapping[str, str], Any]] = field(default_factory=list[Any])

    def answers(self, status: int, body: object, **headers: str) -> None:
        """Answer so from now on."""
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.asked.clear()

    async def answer(self, request: Request) -> Response:
        """Keep one request and answer."""
        given = await request.body()
        self.asked.append((request.method, str(request.url), request.headers, json.loads(given or b"null")))
        if isinstance(self.body, bytes):
            return Response(self.body, self.status, self.headers)
        return JSONResponse(self.body, self.status, self.headers)


@pytest.fixture(scope="module")
def github() -> Iterator[GitHub]:
    """One stand-in for all tests: starting one takes a while."""
    github = GitHub()
    app = Starlette(routes=[Route("/{rest:path}", github.answer, methods=["GET", "POST", "PATCH"])])
    with served(app) as github.url:
        yield github


def tracker(url: str, token: str | None = TOKEN, repository: str | None = REPOSITORY) -> GitHubTracker:
    """Return a tracker at an address."""
    return GitHubTracker(url, repository, token)


def failure(asked: Coroutine[Any, Any, object]) -> str:
    """Return the sentence with which the tracker fails, which never has the token in it."""
    with pytest.raises(TrackerFailed) as failed:
        asyncio.run(asked)
    assert TOKEN not in str(failed.value)
    return str(failed.value)


def test_what_is_sent(github: GitHub) -> None:
    """A request names the interface's version and media type, and shows the token as a bearer."""
    github.answers(200, [])
    assert asyncio.run(tracker(github.url).find_open(LABEL)) is None
    ((method, url, headers, body),) = github.asked
    assert (method, body) == ("GET", None)
    query = f"state=open&labels={LABEL}&sort=created&direction=asc&per_page=100"
    assert url == f"{github.url}/repos/{REPOSITORY}/issues?{query}"
    assert headers["accept"] == "application/vnd.github+json"
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["user-agent"] == "orrery"


def test_pull_requests_are_no_issues(github: GitHub) -> None:
    """A pull request with the label, which the list holds too, is passed over."""
    github.answers(200, [ISSUE | {"number": 3, "pull_request": {"url": "x"}}, ISSUE])
    assert asyncio.run(tracker(github.url).find_open(LABEL)) == Issue("7", "https://example.org/7")


def test_closing_is_a_comment_and_a_change(github: GitHub) -> None:
    """Closing comments first, so that no closed issue is without its reason."""
    github.answers(200, ISSUE)
    asyncio.run(tracker(github.url).close(Issue("7"), "well again"))
    asked = [(method, url.removeprefix(github.url), body) for method, url, _, body in github.asked]
    assert asked == [
        ("POST", f"/repos/{REPOSITORY}/issues/7/comments", {"body": "well again"}),
        ("PATCH", f"/repos/{REPOSITORY}/issues/7", {"state": "closed", "state_reason": "completed"}),
    ]


@each_case(
    ("status", "headers", "message", "words"),
    [
        (401, {}, "Bad credentials", ("does not accept the token", "tracker_token")),
        (403, {}, "Resource not accessible", ("forbids", "read and write the issues of orrery/sandbox")),
        (403, {"retry_after": "60"}, "", ("limits how often",)),
        (403, {"x_ratelimit_remaining": "0"}, "", ("limits how often",)),
        (403, {}, "You have exceeded a secondary rate limit.", ("limits how often",)),
        (429, {}, "", ("limits how often",)),
        (404, {}, "Not Found", ("shows no orrery/sandbox",)),
        (410, {}, "Issues has been disabled", ("has no issues in orrery/sandbox",)),
        (422, {}, "Validation Failed", ("invalid",)),
        (301, {"location": "https://api.example.org/repositories/1"}, "Moved", ("has moved", "repository")),
        (500, {}, "Server Error", ("answered 500",)),
        (503, {}, TOKEN, ("answered 503",)),
    ],
)
def test_refusals(
    github: GitHub, status: int, headers: dict[str, str], message: str, words: tuple[str, ...]
) -> None:
    """Each refusal is one sentence with what to do, without the token and without GitHub's own words."""
    github.answers(status, {"message": message}, **headers)
    sentence = failure(tracker(github.url).open(LABEL, "t", "b"))
    assert [word for word in words if word not in sentence] == []
    assert sentence.startswith("GitHub ")
    assert str(status) in sentence
    assert not message or message not in sentence


@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"{}", b'[{"number": 1}]', b'[{"number": "x"}]'])
def test_an_answer_that_is_none(github: GitHub, body: bytes) -> None:
    """A success that is not GitHub's JSON is a failure, for lists and for single issues."""
    github.answers(200, body)
    asked = (tracker(github.url).open(LABEL, "t", "b"), tracker(github.url).find_open(LABEL))
    assert set(map(failure, asked)) == {"GitHub's answer is not what its interface promises."}


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1", "nonsense"])
def test_nobody_is_there(url: str) -> None:
    """An address that does not answer, or is none, is a failure with its kind."""
    assert failure(tracker(url).find_open(LABEL)).startswith("GitHub cannot be reached: ")


def test_no_answer() -> None:
    """A tracker that does not answer is given up after the deadline."""
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TrackerFailed, match="within 10 s"):
        run_ahead(tracker(f"http://127.0.0.1:{silent.getsockname()[1]}").find_open(LABEL), SECONDS)


@pytest.mark.parametrize("fault", ["tracker_500", "tracker_401"])
def test_the_sandboxs_faults(box: Running, fault: str) -> None:
    """The sandbox's faults are failures of the tracker."""
    box.fault(fault)
    assert fault.removeprefix("tracker_") in failure(tracker(f"{box.url}/tracker").find_open(LABEL))


def test_a_lost_answer(box: Running) -> None:
    """An opening whose answer was lost is a failure, and the issue is found afterwards."""
    box.fault("tracker_lost_answer")
    assert "cannot be reached" in failure(tracker(f"{box.url}/tracker").open("lost-answer", "t", "b"))
    assert asyncio.run(tracker(f"{box.url}/tracker").find_open("lost-answer")) is not None


def test_a_label_that_was_dropped(github: GitHub) -> None:
    """When GitHub drops the label without an error, the issue is kept and the log reports it."""
    github.answers(201, ISSUE | {"labels": list[str]()})
    with logged() as logs:
        asyncio.run(tracker(github.url).open(LABEL, "t", "b"))
    assert [(one["event"], one["issue"]) for one in logs] == [("the tracker dropped the label", 7)]


@each_case(
    ("repository", "token", "missing"),
    [
        (None, TOKEN, "repository"),
        (REPOSITORY, None, "tracker_token"),
        (REPOSITORY, "", "tracker_token"),
        (REPOSITORY, "tokén-beyond-ascii", "tracker_token"),
        (REPOSITORY, "token\r\nX-More: 1", "tracker_token"),
    ],
)
def test_what_is_missing(repository: str | None, token: str | None, missing: str) -> None:
    """Without a repository or a usable token nothing is asked, and the sentence names what is missing."""
    with pytest.raises(NotConfigured, match=missing) as failed:
        asyncio.run(tracker("http://127.0.0.1:1", token, repository).find_open(LABEL))
    assert not token or token not in str(failed.value)
