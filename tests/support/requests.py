"""Requests as the server hands them to an app, and a client that reaches an app without a socket."""

import asyncio
from collections.abc import Sequence

import httpx2
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Scope


def scope(*headers: tuple[str, str | bytes], client: tuple[str, int] | None = ("203.0.113.7", 50_000)) -> Scope:
    """Return the scope of a POST with these headers, from that peer."""
    raw = [(name.encode(), value.encode() if isinstance(value, str) else value) for name, value in headers]
    return {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": raw, "client": client}


def request(
    *headers: tuple[str, str | bytes], client: tuple[str, int] | None = ("203.0.113.7", 50_000)
) -> Request:
    """Return a request without a body."""
    return Request(scope(*headers, client=client))


def posted(chunks: Sequence[bytes], *headers: tuple[str, str], then: str = "") -> Request:
    """Return a request whose body comes in chunks; then it ends, is cut ("cut"), or nothing comes ("silence")."""
    waiting: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if then == "cut":
        waiting.append({"type": "http.disconnect"})
    elif not then:
        waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    return Request(scope(*headers), receive)


def client_of(
    app: ASGIApp, *, host: str = "127.0.0.1", peer: str = "203.0.113.7", raising: bool = True
) -> httpx2.AsyncClient:
    """Return a client of an app; what the app lets through is raised, unless the server's answer is wanted."""
    transport = httpx2.ASGITransport(app=app, client=(peer, 50_000), raise_app_exceptions=raising)
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{host}")
