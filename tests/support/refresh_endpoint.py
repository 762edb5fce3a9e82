"""A service's refresh operation and nothing else, for what calls it from elsewhere."""

import json
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PASSWORD = "open sesame, please!"  # noqa: S105  a password of the tests

DONE: dict[str, object] = {
    "ok": True,
    "active": 12,
    "pages_count": 7,
    "generated_at": "2026-03-01T12:00:00.000000Z",
}
REFUSED: dict[str, object] = {"ok": False, "error": "Unauthorized"}
EXHAUSTED: dict[str, object] = {
    "ok": False,
    "error": "quota-exhausted",
    "message": "The day's tokens are used up.",
}


@dataclass
class RefreshEndpoint:
    """An app that answers `answers` one after the other, the last one for ever; 401 without the password.

    `asked` are method, address and the names of the headers that came.
    """

    answers: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=lambda: [answer(DONE)])
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list[tuple[str, str, dict[str, str]]])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        self.asked.append((request.method, f"{request.url.path}?{request.url.query}", dict(request.headers)))
        if request.headers.get("authorization") != f"Bearer {PASSWORD}":
            status, body, more = answer(REFUSED, 401)
        else:
            status, body, more = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await Response(body, status, more)(scope, receive, send)


def answer(
    body: dict[str, object] | bytes, status: int = 200, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Return one answer of an endpoint."""
    content = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
    return status, content, headers
