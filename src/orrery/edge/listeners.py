"""One server, two listeners: the private one shows what the public one must not (decision 42)."""

import asyncio
import socket
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 10.0
"""How long a client may take from connecting to the end of its headers, or send what is no request."""

HEADER_BYTES = 64 * 1024
"""How long a request's headers may be; the parser would keep whatever comes."""

MESSAGE_BYTES = 8 * 1024 * 1024
"""How long a whole request may be, with its chunks and trailers: far beyond the largest body that is read."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Hands a request to the app of the socket it came in by; what is not surely private is public."""

    public: ASGIApp
    private: ASGIApp
    private_address: tuple[str, int]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        private = scope["type"] == "http" and tuple(scope.get("server") or ()) == self.private_address
        await (self.private if private else self.public)(scope, receive, send)


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

    The edge cache in front has the same limits; this holds where there is none.
    """

    _patience: asyncio.TimerHandle | None = None
    _in_headers = False
    _received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] narrowed upstream too
        """Start waiting for the first request's headers."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what the client sends, within limits."""
        self._received += len(data)
        super().data_received(data)
        if self._received > (HEADER_BYTES if self._in_headers else MESSAGE_BYTES):
            self.transport.abort()
        elif self._patience is None and self._is_idle():
            # Neither a request nor an answer is under way: an empty line, or the rest of a body that nobody reads.
            self._wait()

    def on_message_begin(self) -> None:
        """Wait for the headers of a further request on the same connection."""
        super().on_message_begin()
        self._in_headers, self._received = True, 0
        self._be_patient()
        self._wait()

    def on_headers_complete(self) -> None:
        """Stop waiting: the headers are here."""
        self._in_headers = False
        self._be_patient()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: nobody is there."""
        self._be_patient()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return bool(self.cycle) and self.cycle.response_complete and not self.transport.is_closing()

    def _wait(self) -> None:
        self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _be_patient(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
