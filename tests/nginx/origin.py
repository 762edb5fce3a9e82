"""An origin behind an edge cache: it answers as a test says and keeps what it was asked."""

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from tests.support.ports import free_ports
from tests.support.serving import serving
from tests.support.waiting import PATIENCE


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived; `query` has no question mark, names of headers are in lower case."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Origin:
    """Counts visitors; every answer tells a number of its own, so that a kept one is known.

    `cache_control` and `status` are what it answers with; while `open` is not set, it answers nobody.
    """

    cache_control: str = "public, max-age=0, s-maxage=60, stale-while-revalidate=10, stale-if-error=1700"
    status: int = 200
    asked: list[Asked] = field(default_factory=list[Asked])
    open: threading.Event = field(default_factory=threading.Event)
    port: int = field(default_factory=lambda: free_ports(1)[0])

    def __post_init__(self) -> None:
        self._up = ExitStack()
        self.open.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        query = scope["query_string"].decode()
        asked = Asked(request.method, scope["path"], query, dict(request.headers), await request.body())
        self.asked.append(asked)
        number = len(self.asked)
        await asyncio.to_thread(self.open.wait, PATIENCE)
        await JSONResponse({"active": number}, self.status, self._headers(number))(scope, receive, send)

    def _headers(self, number: int) -> dict[str, str]:
        return {
            "cache-control": self.cache_control,
            "etag": f'W/"{number}-fresh"',
            "access-control-allow-origin": "*",
        }

    def start(self) -> None:
        """Take requests, on the same port as before."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self._up.enter_context(serving(self, listener))
        self._up.callback(listener.close)

    def stop(self) -> None:
        """Be gone: nobody listens any more."""
        self.open.set()
        self._up.close()


@contextmanager
def running_origin() -> Generator[Origin]:
    """Run an origin until the end of the block."""
    origin = Origin()
    origin.start()
    try:
        yield origin
    finally:
        origin.stop()
