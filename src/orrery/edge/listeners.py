"""One server, two listeners: the private one shows what the public one must not (decision 42)."""

import asyncio
import re
import socket
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from orrery.edge.problems import Problem

HEADER_SECONDS = 10.0
"""How long a client may take from connecting to the end of its headers, or send what is no request."""

HEADER_BYTES = 64 * 1024
"""How long a request's headers may be, unless they come in one piece; the parser would keep whatever comes."""

MESSAGE_BYTES = 8 * 1024 * 1024
"""How long a whole request may be, with its chunks and trailers: far beyond the largest body that is read."""

_UNAUTHORIZED = JSONResponse(
    {"ok": False, "error": "Unauthorized"}, 401, {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
)
"""Nobody's bearer is that long (spec 2, Authentication 3)."""

_TOO_LARGE = Problem(431, "headers-too-large", "The request's headers are too large.").response()

_AUTHORIZATION = re.compile(rb"^authorization:", re.IGNORECASE | re.MULTILINE)
_LINE_START = 32
"""Bytes of a header's line that are enough to know its name by."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Hands a request to the app of the socket it came in by; what is not surely private is public."""

    public: ASGIApp
    private: ASGIApp
    private_address: tuple[str, int]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        server: object = scope.get("server")
        # Servers may name the socket by a list; ours does not, and this line stands before every read.
        private = server in (self.private_address, [*self.private_address])
        await (self.private if private and scope["type"] == "http" else self.public)(scope, receive, send)


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise OSError when the address is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(False)
    return listener


class ImpatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, closing a connection that sends half a request and then nothing, or headers without end.

    Headers that are too large get an answer first. The edge cache in front has the same limits; this holds where
    there is none.
    """

    _patience: asyncio.TimerHandle | None = None
    _in_headers = False
    _received = 0
    _lines = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] narrowed upstream too
        """Start waiting for the first request's headers."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what the client sends, within limits."""
        self._received += len(data)
        super().data_received(data)
        if self._patience is None and (self._in_headers or self._is_idle()):
            # Half a request; or neither a request nor an answer is under way: an empty line, or the rest of a body
            # that nobody reads. A request whose headers come in one piece, as most do, costs no timer.
            self._wait()
        if self._in_headers:
            self._limit_head(data)
        elif self._received > MESSAGE_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Begin to count a request's headers."""
        super().on_message_begin()
        self._in_headers, self._received, self._lines = True, 0, b""
        self._be_patient()

    def on_headers_complete(self) -> None:
        """Stop waiting: the headers are here."""
        self._in_headers = False
        self._be_patient()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: nobody is there."""
        self._be_patient()
        super().connection_lost(exc)

    def _limit_head(self, data: bytes) -> None:
        """Refuse a head that goes on after this piece, once it is too large.

        The parser tells of a header when the next one begins, so how the last two lines begin is kept here.
        """
        if not self._lines:
            told = sum(len(name) + len(value) for name, value in self.headers)
            self._received = len(self.url) + told + len(data) - (data.rfind(b"\n") + 1)
        lines = (self._lines + data).rsplit(b"\n", 2)[-2:]
        self._lines = b"\n".join(line[:_LINE_START] for line in lines)
        if self._received > HEADER_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def _refuse_head(self) -> None:
        if self.cycle and not self.cycle.response_complete:
            self.transport.abort()  # the client would take this answer for the one that is under way
            return
        authorizes = any(name == b"authorization" for name, _ in self.headers) or _AUTHORIZATION.search(
            self._lines
        )
        self._write(_UNAUTHORIZED if authorizes else _TOO_LARGE)
        self._be_patient()
        self.connections.discard(self)
        self.transport.set_protocol(_Refused(self.transport, self.loop))

    def _write(self, answer: Response) -> None:
        headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
        lines = [b"%b: %b\r\n" % header for header in headers]
        self.transport.write(b"".join([STATUS_LINE[answer.status_code], *lines, b"\r\n", answer.body]))
        self.transport.write_eof()

    def _is_idle(self) -> bool:
        return bool(self.cycle) and self.cycle.response_complete and not self.transport.is_closing()

    def _wait(self) -> None:
        if self.transport.is_closing():
            return
        self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _be_patient(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class _Refused(asyncio.Protocol):
    """Lets a client that has its answer send on for a while: closed at once, it might never come to read it."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._left = MESSAGE_BYTES
        self._end = loop.call_later(HEADER_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Forget what the client sends."""
        self._left -= len(data)
        if self._left < 0:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: nobody is there."""
        del exc
        self._end.cancel()
