"""A push server with ntfy's HTTP interface, and a page to read the pushes."""

import json
import math
import secrets
from email.header import decode_header, make_header
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.board import Board
from orrery.sandbox.faults import Refusal, Refusals
from orrery.sandbox.ground import Document, SandboxGround

MAX_MESSAGE_BYTES = 4096
"""ntfy's published limit of a message's body."""

CACHE = 12 * 60 * 60
"""Seconds for which a topic's messages can be read, as by ntfy's default."""

_KIND = "_push"
_HEADERS = ("title", "priority", "tags")
_PRIORITIES = ("min", "low", "default", "high", "urgent")
_Topic = Annotated[str, Field(pattern=r"^[-_A-Za-z0-9]{1,64}$")]


class _Published(BaseModel):
    """A message as JSON; other fields of the vendor's (actions, attach, …) are taken and ignored."""

    topic: _Topic
    message: str = "triggered"
    title: str | None = None
    priority: int = Field(3, ge=1, le=5)
    tags: list[str] | None = None
    sequence_id: _Topic | None = None


def _refused(status: int, code: int, reason: str) -> Refusal:
    return Refusal(status, {"code": code, "http": status, "error": reason})


_FAULTS: Refusals = {
    "push_500": lambda _: _refused(500, 50001, "internal server error"),
    "push_403": lambda _: _refused(403, 40301, "forbidden"),
    "push_413": lambda _: _refused(413, 41301, "message too large"),
    "push_429": lambda _: _refused(429, 42901, "limit reached: too many requests"),
}
_UNREADABLE: Refusals = {"push_unreadable": _FAULTS["push_403"]}


class PushServer:
    """Takes messages and keeps them; `token` is the bearer that publishers must show, if any."""

    def __init__(self, ground: SandboxGround, token: str | None) -> None:
        self._ground = ground
        self._token = token

    def routes(self) -> list[Route]:
        """Return the page and the publishing routes below it."""
        board = Board("/push", "push.html", self._pushes)
        return [*board.routes(), *self.publishing("/push")]

    def publishing(self, root: str = "") -> list[Route]:
        """Return ntfy's routes below `root`."""
        return [
            Route(root or "/", self.publish, methods=["POST", "PUT"]),
            Route(f"{root}/{{topic}}", self.publish, methods=["POST", "PUT"]),
            Route(f"{root}/v1/health", _health, methods=["GET"]),
            Route(f"{root}/{{topic}}/json", self.poll, methods=["GET"]),
        ]

    async def publish(self, request: Request) -> Response:
        """POST /push: a JSON object; POST /push/{topic}: the text, its headers title, priority and tags."""
        return await self._ground.faults.request("push").answer(_FAULTS, partial(self._published, request))

    async def _published(self, request: Request) -> Response:
        self._check_token(request)
        message = _read(request, await request.body())
        message |= {"id": secrets.token_urlsafe(9), "time": int(self._now()), "event": "message"}
        self._ground.state.save({"object": _KIND, "id": message["id"], "message": message})
        return JSONResponse(message)

    async def poll(self, request: Request) -> Response:
        """GET /push/{topic}/json?poll=1&since=…: the topic's messages of the last 12 hours, one a line."""
        return await self._ground.faults.request("push reads").answer(_UNREADABLE, partial(self._polled, request))

    async def _polled(self, request: Request) -> Response:
        self._check_token(request)
        asked, topic = request.query_params.get("since", "all"), request.path_params["topic"]
        since = int(asked) if asked.isdecimal() else {"all": 0.0, "none": math.inf}[asked]
        earliest = max(since, self._now() - CACHE)
        found = [one for one in self._pushes() if one["topic"] == topic and one["time"] >= earliest]
        lines = "".join(f"{json.dumps(one)}\n" for one in reversed(found))
        return Response(lines, media_type="application/x-ndjson")

    def _now(self) -> float:
        return self._ground.clock.now().timestamp()

    def _pushes(self) -> list[Document]:
        return [one["message"] for one in self._ground.state.newest_first(_KIND)]

    def _check_token(self, request: Request) -> None:
        if self._token is not None and request.headers.get("authorization") != f"Bearer {self._token}":
            raise _refused(401, 40101, "unauthorized")


async def _health(_: Request) -> Response:
    return JSONResponse({"healthy": True})


def _read(request: Request, body: bytes) -> Document:
    if len(body) > MAX_MESSAGE_BYTES:
        raise _refused(413, 41301, "message too large")
    given = _in_headers(request, body) if "topic" in request.path_params else body
    try:
        return _Published.model_validate_json(given, strict=True).model_dump(exclude_none=True)
    except ValidationError as error:
        raise _refused(400, 40024, "request body must be message JSON") from error


def _in_headers(request: Request, body: bytes) -> str:
    """Return as JSON what the guest's script posts."""
    headers = {name: str(make_header(decode_header(request.headers.get(name, "")))) for name in _HEADERS}
    priority = headers["priority"] or "default"
    found = {
        "topic": request.path_params["topic"],
        "message": body.decode(errors="replace") or "triggered",
        "title": headers["title"] or None,
        "priority": _PRIORITIES.index(priority) + 1 if priority in _PRIORITIES else 0,
        "tags": [tag for tag in headers["tags"].split(",") if tag] or None,
    }
    return json.dumps(found)
