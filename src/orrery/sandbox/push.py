"""A push server with ntfy's HTTP interface, and a page to read the pushes."""

import json
import math
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from email.header import decode_header, make_header

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.ports.clock import Clock
from orrery.sandbox.board import Board
from orrery.sandbox.faults import Fault, Faults, LateAnswer, never
from orrery.sandbox.ground import Document, DocumentStore

MAX_MESSAGE_BYTES = 4096
"""ntfy's published limit of a message's body."""

CACHE = 12 * 60 * 60
"""Seconds for which a topic's messages can be read, as by ntfy's default."""

_KIND = "_push"
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
_PRIORITIES = {"min": 1, "low": 2, "default": 3, "high": 4, "max": 5, "urgent": 5}


class _Published(BaseModel):
    """A message as JSON; fields that the sandbox does not play (actions, attach, …) are taken and ignored."""

    topic: str
    message: str = ""
    title: str = ""
    priority: int = 3
    tags: list[str] = []
    sequence_id: str = ""


@dataclass
class _Refused(Exception):
    status: int
    code: int
    reason: str

    def answer(self) -> Response:
        body = {"code": self.code, "http": self.status, "error": self.reason}
        return JSONResponse(body, self.status)


_FAULTS: dict[str, Callable[[Fault], Exception]] = {
    "push_500": lambda _: _Refused(500, 50001, "internal server error"),
    "push_403": lambda _: _Refused(403, 40301, "forbidden"),
    "push_413": lambda _: _Refused(413, 41301, "message too large"),
    "push_429": lambda _: _Refused(429, 42901, "limit reached: too many requests"),
}


class PushServer:
    """Takes messages and keeps them; `token` is the bearer that publishers must show, if any."""

    def __init__(self, state: DocumentStore, clock: Clock, faults: Faults, token: str | None) -> None:
        self._state = state
        self._clock = clock
        self._faults = faults
        self._token = token

    def routes(self) -> list[Route]:
        """Return the page and the publishing routes below it."""
        board = Board("/push", "push.html", self._pushes, lambda: {"pushes": self._pushes()})
        return [*board.routes(), *self.publishing("/push")]

    def publishing(self, root: str = "") -> list[Route]:
        """Return ntfy's routes below `root`."""
        return [
            Route(root or "/", self.publish_json, methods=["POST", "PUT"]),
            Route(f"{root}/v1/health", _health, methods=["GET"]),
            Route(f"{root}/{{topic}}/json", self.poll, methods=["GET"]),
            Route(f"{root}/{{topic}}", self.publish, methods=["POST", "PUT"]),
        ]

    async def publish(self, request: Request) -> Response:
        """POST /push/{topic}: the body is the message, headers (or query) say the rest."""
        body = await request.body()
        return self._answer(request, body, lambda: _from_headers(request, body))

    async def publish_json(self, request: Request) -> Response:
        """POST /push: a JSON object with topic, message, title, priority, tags."""
        body = await request.body()
        return self._answer(request, body, lambda: _from_json(body))

    async def poll(self, request: Request) -> Response:
        """GET /push/{topic}/json?poll=1&since=…: the topic's messages of the last 12 hours, one a line."""
        try:
            self._check_reader(request)
            since = _since(request.query_params.get("since", "all"))
        except _Refused as refusal:
            return refusal.answer()
        if request.query_params.get("poll") != "1":
            return LateAnswer(None, never)  # a subscription: nothing comes
        earliest, topic = max(since, self._clock.now().timestamp() - CACHE), request.path_params["topic"]
        kept = (one["message"] for one in self._state.newest_first(_KIND))
        lines = [f"{json.dumps(one)}\n" for one in kept if one["topic"] == topic and one["time"] >= earliest]
        lines.reverse()
        return Response("".join(lines), media_type="application/x-ndjson")

    def _pushes(self) -> list[Document]:
        return [one["message"] for one in self._state.newest_first(_KIND)]

    def _answer(self, request: Request, body: bytes, read: Callable[[], Document]) -> Response:
        if (broken := self._faults.instead("push")) is not None:
            return broken
        try:
            self._check(request, body)
            message = read()
        except _Refused as refusal:
            return refusal.answer()
        message |= {"id": secrets.token_urlsafe(9), "time": int(self._clock.now().timestamp()), "event": "message"}
        self._state.save({"object": _KIND, "id": message["id"], "message": message})
        return self._faults.late("push_lost_answer", JSONResponse(message), self._clock)

    def _check(self, request: Request, body: bytes) -> None:
        self._faults.refuse(_FAULTS)
        self._check_token(request)
        if len(body) > MAX_MESSAGE_BYTES:
            raise _Refused(413, 41301, "message too large")

    def _check_reader(self, request: Request) -> None:
        if self._faults.take("push_unreadable"):
            raise _Refused(403, 40301, "forbidden")
        self._check_token(request)

    def _check_token(self, request: Request) -> None:
        if self._token is not None and request.headers.get("authorization") != f"Bearer {self._token}":
            raise _Refused(401, 40101, "unauthorized")


async def _health(_: Request) -> Response:
    return JSONResponse({"healthy": True})


def _from_headers(request: Request, body: bytes) -> Document:
    def said(*names: str) -> str:
        found = next((request.headers[name] for name in names if name in request.headers), "")
        return str(make_header(decode_header(found)))

    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _Refused(400, 40001, "the message is not UTF-8") from error
    tags = [tag for tag in said("tags", "x-tags", "ta").split(",") if tag]
    return _message(
        request.path_params["topic"],
        text,
        said("title", "x-title", "t"),
        said("priority", "x-priority", "p") or "default",
        tags,
    )


def _from_json(body: bytes) -> Document:
    try:
        given = _Published.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise _Refused(400, 40024, "request body must be message JSON") from error
    message = _message(given.topic, given.message, given.title, str(given.priority), given.tags)
    if given.sequence_id and not _TOPIC.fullmatch(given.sequence_id):
        raise _Refused(400, 40049, "invalid request: sequence ID invalid")
    return message | ({"sequence_id": given.sequence_id} if given.sequence_id else {})


def _since(text: str) -> float:
    if text in {"all", "none"}:
        return 0 if text == "all" else math.inf
    if not text.isdecimal():
        raise _Refused(400, 40008, "invalid request: since parameter is invalid")
    return int(text)


def _message(topic: str, text: str, title: str, priority: str, tags: list[str]) -> Document:
    if not _TOPIC.fullmatch(topic):
        raise _Refused(400, 40009, "invalid topic")
    level = _PRIORITIES.get(priority.lower(), int(priority) if priority in "12345" else 0)
    if not level:
        raise _Refused(400, 40007, "invalid priority")
    message: Document = {"topic": topic, "message": text or "triggered", "priority": level}
    if title:
        message["title"] = title
    if tags:
        message["tags"] = tags
    return message
