"""An issue tracker with GitHub's REST interface for issues, and a page to read them.

It has one public repository, which anyone with a token may write. Pull requests, locks and deletions are not
simulated.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.ports.clock import Clock
from orrery.sandbox.board import Board
from orrery.sandbox.faults import CutConnection, Fault, Faults, Refusal
from orrery.sandbox.ground import Document, DocumentStore

REPOSITORY = "orrery/sandbox"
"""The repository that there is."""

_KIND = "_issue"
_DOCUMENTATION = "https://docs.github.com/rest/issues"
_LONGEST_TITLE, _LONGEST_BODY = 256, 65_536
_PAGE, _LONGEST_PAGE = 30, 100
_SORTS: dict[str, Callable[[Document], int]] = {
    "created": lambda issue: issue["number"],
    "updated": lambda issue: issue["updated_at"],
    "comments": lambda issue: len(issue["comments"]),
}


Body = TypeVar("Body", bound=BaseModel)


class _Label(BaseModel):
    name: str


class _Created(BaseModel):
    """A new issue; other fields of the vendor's (assignees, milestone, …) are taken and ignored."""

    title: str | int | None = None
    body: str | None = None
    labels: list[_Label | str] = []


class _Changed(BaseModel):
    """A change of an issue's state, which is all that we change."""

    state: str
    state_reason: Literal["completed", "not_planned", "duplicate", "reopened"] | None = None


class _Comment(BaseModel):
    body: str | None = None


def _refused(status: int, message: str, *errors: Document) -> Refusal:
    body: Document = {"message": message, "documentation_url": _DOCUMENTATION, "status": str(status)}
    return Refusal(status, body | ({"errors": list(errors)} if errors else {}))


def _invalid(resource: str, name: str, code: str) -> Refusal:
    return _refused(422, "Validation Failed", {"resource": resource, "field": name, "code": code})


_FAULTS: dict[str, Callable[[Fault], Refusal]] = {
    "tracker_500": lambda _: _refused(500, "Server Error"),
    "tracker_401": lambda _: _refused(401, "Bad credentials"),
}


class TrackerServer:
    """Keeps issues and their comments; `token` is the bearer that writers must show, None takes any."""

    def __init__(
        self, state: DocumentStore, clock: Clock, faults: Faults, base_url: str, token: str | None
    ) -> None:
        self._state = state
        self._clock = clock
        self._faults = faults
        self._home = f"{base_url.rstrip('/')}/tracker"
        self._token = token

    def routes(self) -> list[Route]:
        """Return the interface's routes and the page."""
        issues = "/tracker/repos/{owner}/{repo}/issues"
        return [
            *Board("/tracker", "tracker.html", self._known, lambda: {"issues": self._known()}).routes(),
            Route(issues, self._answering(self._list), methods=["GET"]),
            Route(issues, self._answering(self._create), methods=["POST"]),
            Route(f"{issues}/{{number}}", self._answering(self._get), methods=["GET"]),
            Route(f"{issues}/{{number}}", self._answering(self._change), methods=["PATCH"]),
            Route(f"{issues}/{{number}}/comments", self._answering(self._comments), methods=["GET"]),
            Route(f"{issues}/{{number}}/comments", self._answering(self._add_comment), methods=["POST"]),
            Route("/tracker/{rest:path}", _nothing_here),
        ]

    def _known(self) -> list[Document]:
        kept = self._state.newest_first(_KIND)
        return [{key: value for key, value in one.items() if key != "object"} for one in kept]

    def _answering(self, operation: Callable[[Request, bytes], Response]) -> Callable[..., object]:
        """Return the endpoint of one operation: faults, then rights, then the operation."""

        async def endpoint(request: Request) -> Response:
            path = request.url.path
            try:
                self._admit(request)
                answer = operation(request, await request.body())
            except Refusal as refusal:
                return refusal.answer()
            lost = request.method != "GET" and self._faults.take("tracker_lost_answer", path)
            return CutConnection() if lost else answer

        return endpoint

    def _admit(self, request: Request) -> None:
        path = request.url.path
        self._faults.refuse(_FAULTS, path)
        given = request.headers.get("authorization", "").removeprefix("Bearer ").removeprefix("token ")
        if given and self._token not in (None, given):
            raise _refused(401, "Bad credentials")
        if not given and request.method != "GET":
            raise _refused(401, "Requires authentication")
        if "/".join((request.path_params["owner"], request.path_params["repo"])).lower() != REPOSITORY:
            raise _refused(404, "Not Found")

    def _list(self, request: Request, _: bytes) -> Response:
        query = request.query_params
        wanted = {name.strip().lower() for name in query.get("labels", "").split(",") if name.strip()}
        state = _one_of(query.get("state", "open"), ("open", "closed", "all"), "state")
        found = [
            one
            for one in self._state.newest_first(_KIND)
            if state in ("all", one["state"]) and wanted <= {name.lower() for name in one["labels"]}
        ]
        order = _SORTS.get(query.get("sort", "created"), _SORTS["created"])
        found.sort(key=order, reverse=query.get("direction", "desc") != "asc")
        return self._paged(request, [self._issue(one) for one in found])

    def _create(self, _: Request, body: bytes) -> Response:
        given = _read(_Created, body)
        title = _checked_title(given.title)
        number, now = len(list(self._state.newest_first(_KIND))) + 1, self._now()
        issue: Document = {
            "object": _KIND,
            "id": str(number),
            "number": number,
            "title": title,
            "body": _checked_body(given.body, "Issue"),
            "labels": _names(given.labels),
            "state": "open",
            "state_reason": None,
            "created_at": now,
            "updated_at": now,
            "closed_at": None,
            "comments": [],
        }
        self._state.save(issue)
        return JSONResponse(self._issue(issue), 201, {"Location": f"{self._path()}/{number}"})

    def _get(self, request: Request, _: bytes) -> Response:
        return JSONResponse(self._issue(self._found(request)))

    def _change(self, request: Request, body: bytes) -> Response:
        issue, given = self._found(request), _read(_Changed, body)
        self._move(issue, _one_of(given.state, ("open", "closed"), "state"), given.state_reason)
        issue["updated_at"] = self._now()
        self._state.save(issue)
        return JSONResponse(self._issue(issue))

    def _move(self, issue: Document, state: str, reason: str | None) -> None:
        if state == issue["state"]:
            return
        closed = state == "closed"
        issue |= {"state": state, "closed_at": self._now() if closed else None}
        issue["state_reason"] = (reason or "completed") if closed else "reopened"

    def _comments(self, request: Request, _: bytes) -> Response:
        issue = self._found(request)
        return self._paged(request, [self._comment(issue, one) for one in issue["comments"]])

    def _add_comment(self, request: Request, body: bytes) -> Response:
        issue = self._found(request)
        text = _checked_body(_read(_Comment, body).body, "IssueComment")
        number = 1 + sum(len(one["comments"]) for one in self._state.newest_first(_KIND))
        comment: Document = {"id": number, "body": text, "created_at": self._now()}
        issue["comments"].append(comment)
        issue["updated_at"] = comment["created_at"]
        self._state.save(issue)
        return JSONResponse(self._comment(issue, comment), 201)

    def _found(self, request: Request) -> Document:
        issue = self._state.get(_KIND, request.path_params["number"])
        if issue is None:
            raise _refused(404, "Not Found")
        return issue

    def _paged(self, request: Request, found: list[Document]) -> Response:
        query = dict(request.query_params)
        size = min(_number(query.get("per_page"), _PAGE), _LONGEST_PAGE)
        page, last = _number(query.get("page"), 1), max(1, -(-len(found) // size))
        places = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        shown = [rel for rel in places if (page > 1 if rel in ("prev", "first") else page < last)]
        url = f"{self._home}{request.url.path.removeprefix('/tracker')}"
        links = [f'<{url}?{urlencode(query | {"page": places[rel]})}>; rel="{rel}"' for rel in shown]
        headers = {"Link": ", ".join(links)} if links else {}
        return JSONResponse(found[(page - 1) * size : page * size], headers=headers)

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

    def _path(self) -> str:
        return f"{self._home}/repos/{REPOSITORY}/issues"

    def _issue(self, issue: Document) -> Document:
        url = f"{self._path()}/{issue['number']}"
        return {
            "url": url,
            "repository_url": f"{self._home}/repos/{REPOSITORY}",
            "comments_url": f"{url}/comments",
            "html_url": f"{self._home}#issue-{issue['number']}",
            "id": issue["number"],
            "node_id": f"I_{issue['number']}",
            "number": issue["number"],
            "title": issue["title"],
            "user": _USER,
            "labels": [_label(self._home, name) for name in issue["labels"]],
            "state": issue["state"],
            "state_reason": issue["state_reason"],
            "locked": False,
            "active_lock_reason": None,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "comments": len(issue["comments"]),
            "created_at": _iso(issue["created_at"]),
            "updated_at": _iso(issue["updated_at"]),
            "closed_at": _iso(issue["closed_at"]),
            "closed_by": _USER if issue["state"] == "closed" else None,
            "author_association": "OWNER",
            "body": issue["body"],
        }

    def _comment(self, issue: Document, comment: Document) -> Document:
        return {
            "url": f"{self._path()}/comments/{comment['id']}",
            "issue_url": f"{self._path()}/{issue['number']}",
            "html_url": f"{self._home}#comment-{comment['id']}",
            "id": comment["id"],
            "node_id": f"IC_{comment['id']}",
            "user": _USER,
            "created_at": _iso(comment["created_at"]),
            "updated_at": _iso(comment["created_at"]),
            "author_association": "OWNER",
            "body": comment["body"],
        }


_USER: Document = {"login": "orrery", "id": 1, "node_id": "U_1", "type": "User", "site_admin": False}


async def _nothing_here(_: Request) -> Response:
    return _refused(404, "Not Found").answer()


def _label(home: str, name: str) -> Document:
    url = f"{home}/repos/{REPOSITORY}/labels/{name}"
    return {
        "id": 1,
        "node_id": "L_1",
        "url": url,
        "name": name,
        "color": "ededed",
        "default": False,
        "description": None,
    }


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _names(labels: Sequence[_Label | str]) -> list[str]:
    return list(dict.fromkeys(one if isinstance(one, str) else one.name for one in labels))


def _number(given: str | None, default: int) -> int:
    return int(given) if given and given.isdecimal() and int(given) else default


def _read(kind: type[Body], body: bytes) -> Body:
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        where = "/".join(map(str, error.errors()[0]["loc"]))
        text = f"Invalid request.\n\nFor 'properties/{where}', the value is not of its type."
        raise _refused(422 if where else 400, text if where else "Problems parsing JSON") from None


def _checked_title(title: str | int | None) -> str:
    text = "" if title is None else str(title)
    if not text.strip():
        raise _invalid("Issue", "title", "missing_field")
    if len(text) > _LONGEST_TITLE:
        raise _invalid("Issue", "title", "custom")
    return text


def _checked_body(body: str | None, resource: str) -> str | None:
    if body and len(body) > _LONGEST_BODY:
        raise _invalid(resource, "body", "custom")
    return body


def _one_of(value: str, allowed: Sequence[str], name: str) -> str:
    if value not in allowed:
        raise _invalid("Issue", name, "invalid")
    return value
