"""GitHub's issues by its REST interface (decision 29).

The token needs one right: to read and write the issues of one repository.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from orrery.errors import NotConfigured
from orrery.logs import log
from orrery.outside import Answer, NoAnswer, Outside
from orrery.ports.tracker import Issue, TrackerFailed
from orrery.syntax.lines import is_header_text
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 10.0
"""How long one request may take."""

_VERSION = "2022-11-28"
"""Of the interface, by date."""

_PAGE = 100
"""The most that one page of a list holds."""

_LIMITED = "limits how often it may be asked ({status}); the next check asks again."
_REFUSALS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "does not accept the token (401): give a new one in the secret tracker_token.",
    HTTPStatus.FORBIDDEN: (
        "forbids it (403): the token must be allowed to read and write the issues of {repository}."
    ),
    HTTPStatus.NOT_FOUND: "shows no {repository} (404): the name is wrong, or the token may not see it.",
    HTTPStatus.GONE: (
        "has no issues in {repository} (410): switch them on in its settings, unless this one was deleted."
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: "finds the request invalid (422).",
}
_MOVED = "reports that {repository} has moved ({status}): set [monitor] repository to its new name."
_OTHER = "answered {status}."

Parsed = TypeVar("Parsed")


class _Label(BaseModel):
    name: str


class _Issue(BaseModel):
    """An issue, as far as we read it. A pull request is one, too, and has `pull_request`."""

    number: int
    html_url: str
    labels: list[_Label | str]
    pull_request: object = None

    def has(self, label: str) -> bool:
        names = (one if isinstance(one, str) else one.name for one in self.labels)
        return label.lower() in (name.lower() for name in names)

    def to_value(self) -> Issue:
        return Issue(str(self.number), self.html_url)


_ONE, _LIST = TypeAdapter(_Issue), TypeAdapter(list[_Issue])


class GitHubTracker:
    """Opens, comments on and closes the issues of `repository` (`owner/name`).

    `base_url` is the interface's address. Every method raises `TrackerFailed`, or `NotConfigured` while
    repository or token is missing.
    """

    def __init__(
        self, base_url: str, repository: str | None, token: str | None, trust: Trust = WELL_KNOWN
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._repository = repository
        self._token = token
        self._github = Outside("GitHub", SECONDS, trust)

    async def find_open(self, label: str) -> Issue | None:
        """Return the oldest open issue with `label`; pull requests are none."""
        query = {"state": "open", "labels": label, "sort": "created", "direction": "asc", "per_page": str(_PAGE)}
        answer = await self._ask("GET", "", query=query)
        return next((one.to_value() for one in _read(_LIST, answer) if one.pull_request is None), None)

    async def open(self, label: str, title: str, body: str) -> Issue:
        """Open an issue with `label`, which GitHub makes when it is new."""
        answer = await self._ask("POST", "", {"title": title, "body": body, "labels": [label]})
        issue = _read(_ONE, answer)
        if not issue.has(label):
            # For a token that may open issues but not label them, GitHub drops the label without an error.
            log.warning("the tracker dropped the label", label=label, issue=issue.number)
        return issue.to_value()

    async def comment(self, issue: Issue, body: str) -> None:
        _ = await self._ask("POST", f"/{issue.id}/comments", {"body": body})

    async def close(self, issue: Issue, body: str) -> None:
        """Add a closing comment and close."""
        await self.comment(issue, body)
        _ = await self._ask("PATCH", f"/{issue.id}", {"state": "closed", "state_reason": "completed"})

    async def _ask(
        self,
        method: str,
        path: str,
        json: Mapping[str, object] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        url, headers = self._address(path), self._headers()
        try:
            answer = await self._github.ask(method, url, json=json, params=query, headers=headers)
        except NoAnswer as error:
            raise TrackerFailed(str(error)) from None
        if not answer.is_success:
            sentence = _refusal(answer).format(status=answer.status_code, repository=self._repository)
            raise TrackerFailed(f"GitHub {sentence}")
        return answer

    def _address(self, path: str) -> str:
        if not self._repository:
            raise NotConfigured("The tracker is GitHub, but [monitor] repository is not set.")
        return f"{self._base_url}/repos/{self._repository}/issues{path}"

    def _headers(self) -> dict[str, str]:
        if not self._token:
            raise NotConfigured("The tracker is GitHub, but the secret tracker_token is missing.")
        if not is_header_text(self._token):
            raise NotConfigured("The secret tracker_token has characters that no token of GitHub has.")
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "orrery",
            "X-GitHub-Api-Version": _VERSION,
        }


def _refusal(answer: Answer) -> str:
    if _is_limited(answer):
        return _LIMITED
    return _MOVED if answer.is_redirect else _REFUSALS.get(answer.status_code, _OTHER)


def _is_limited(answer: Answer) -> bool:
    """Distinguish a limit, which ends by itself, from a missing right: both may be 403."""
    if answer.status_code not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
        return False
    return (
        answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
        or "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in answer.text.lower()
    )


def _read(kind: TypeAdapter[Parsed], answer: Answer) -> Parsed:
    try:
        return kind.validate_json(answer.content)
    except ValidationError:
        raise TrackerFailed("GitHub's answer is not what its interface promises.") from None
