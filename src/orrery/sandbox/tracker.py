"""An issue tracker with GitHub's REST interface for issues, and a page to read them.

It has one public repository, which anyone with a token may write, and what our adapter asks for: labels and state
of a list, its order by time, comments, and an issue that is closed.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.board import Board
from orrery.sandbox.faults import Refusal, Refusals
from orrery.sandbox.ground import Document, SandboxGround

REPOSITORY = "orrery/sandbox"
"""The repository that there is."""

_KIND = "_issue"
_ISSUES = "/tracker/repos/{owner}/{repo}/issues"
_PAGE = 30


def _refused(status: int, message: str) -> Refusal:
    about = {"documentation_url": "https://docs.github.com/rest/issues", "status": str(status)}
    return Refusal(status, {"message": message, **about})


_FAULTS: Refusals = {
    "tracker_500": lambda _: _refused(500, "Server Error"),
    "tracker_401": lambda _: _refused(401, "Bad credentials"),
}

Operation = Callable[[Request, Document], Response]


class TrackerServer:
    """Keeps issues and their comments."""

    def __init__(self, ground: SandboxGround) -> None:
        self._ground = ground
        self._home = f"{ground.base_url}/tracker"

    def routes(self) -> list[Route]:
        """Return the interface's routes and the page."""
        one = f"{_ISSUES}/{{number}}"
        operations: tuple[tuple[str, str, Operation], ...] = (
            ("GET", _ISSUES, self._list),
            ("POST", _ISSUES, self._create),
            ("GET", one, lambda request, _: JSONResponse(self._issue(self._found(request)))),
            ("PATCH", one, self._change),
            ("GET", f"{one}/comments", self._comments),
            ("POST", f"{one}/comments", self._add_comment),
        )
        routes = [Route(path, partial(self._answer, run), methods=[method]) for method, path, run in operations]
        board = Board("/tracker", "tracker.html", self._known)
        return [*board.routes(), *routes]

    def _known(self) -> list[Document]:
        kept = self._ground.state.newest_first(_KIND)
        return [{key: value for key, value in one.items() if key != "object"} for one in kept]

    async def _answer(self, operation: Operation, request: Request) -> Response:
        """Answer one request: faults, then rights, then the operation."""

        async def carried_out() -> Response:
            _admit(request)
            return operation(request, json.loads(await request.body() or b"{}"))

        kind = "tracker" if request.method == "GET" else "tracker writes"
        return await self._ground.faults.request(kind, request.url.path).answer(_FAULTS, carried_out)

    def _list(self, request: Request, _: Document) -> Response:
        query = request.query_params
        wanted, state = query.get("labels", "").lower(), query.get("state", "open")
        found = [
            self._issue(one)
            for one in self._ground.state.newest_first(_KIND)
            if state in ("all", one["state"])
            and (not wanted or wanted in (name.lower() for name in one["labels"]))
        ]
        if query.get("direction") == "asc":
            found.reverse()
        return JSONResponse(found[: int(query.get("per_page", _PAGE))])

    def _create(self, _: Request, given: Document) -> Response:
        number, now = len(list(self._ground.state.newest_first(_KIND))) + 1, self._now()
        issue: Document = {
            "object": _KIND,
            "id": str(number),
            "number": number,
            "title": given["title"],
            "body": given.get("body"),
            "labels": given.get("labels", []),
            "state": "open",
            "state_reason": None,
            "created_at": now,
            "updated_at": now,
            "closed_at": None,
            "comments": [],
        }
        self._ground.state.save(issue)
        return JSONResponse(self._issue(issue), 201)

    def _change(self, request: Request, given: Document) -> Response:
        """Close an issue or open it again, which is all that we change."""
        issue, now = self._found(request), self._now()
        closed = given["state"] == "closed"
        reason = given.get("state_reason", "completed") if closed else "reopened"
        issue |= {"state": given["state"], "state_reason": reason, "updated_at": now}
        issue["closed_at"] = now if closed else None
        self._ground.state.save(issue)
        return JSONResponse(self._issue(issue))

    def _comments(self, request: Request, _: Document) -> Response:
        issue = self._found(request)
        return JSONResponse([self._comment(issue, one) for one in issue["comments"]])

    def _add_comment(self, request: Request, given: Document) -> Response:
        issue = self._found(request)
        number = 1 + sum(len(one["comments"]) for one in self._ground.state.newest_first(_KIND))
        comment: Document = {"id": number, "body": given.get("body"), "created_at": self._now()}
        issue["comments"].append(comment)
        issue["updated_at"] = comment["created_at"]
        self._ground.state.save(issue)
        return JSONResponse(self._comment(issue, comment), 201)

    def _found(self, request: Request) -> Document:
        issue = self._ground.state.get(_KIND, request.path_params["number"])
        if issue is None:
            raise _refused(404, "Not Found")
        return issue

    def _now(self) -> int:
        return int(self._ground.clock.now().timestamp())

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
            "labels": [{"id": 1, "name": name, "color": "ededed", "default": False} for name in issue["labels"]],
            "state": issue["state"],
            "state_reason": issue["state_reason"],
            "locked": False,
            "assignees": [],
            "comments": len(issue["comments"]),
            "created_at": _iso(issue["created_at"]),
            "updated_at": _iso(issue["updated_at"]),
            "closed_at": _iso(issue["closed_at"]),
            "author_association": "OWNER",
            "body": issue["body"],
        }

    def _comment(self, issue: Document, comment: Document) -> Document:
        return {
            "url": f"{self._path()}/comments/{comment['id']}",
            "issue_url": f"{self._path()}/{issue['number']}",
            "html_url": f"{self._home}#comment-{comment['id']}",
            "id": comment["id"],
            "user": _USER,
            "created_at": _iso(comment["created_at"]),
            "updated_at": _iso(comment["created_at"]),
            "body": comment["body"],
        }


_USER: Document = {"login": "orrery", "id": 1, "node_id": "U_1", "type": "User", "site_admin": False}


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _admit(request: Request) -> None:
    if request.method != "GET" and not request.headers.get("authorization"):
        raise _refused(401, "Requires authentication")
    if f"{request.path_params['owner']}/{request.path_params['repo']}".lower() != REPOSITORY:
        raise _refused(404, "Not Found")
