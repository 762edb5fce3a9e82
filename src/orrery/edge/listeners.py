"""One server, two listeners: the private one shows what the public one must not (decision 42)."""

import asyncio
import socket
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 10.0
"""How long a client may take from connecting to the end of its headers."""


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
    """uvicorn's protocol, closing a connection that sends half a request and then nothing.

    The edge cache in front has the same time-out; this holds where there is none.
    """

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] narrowed upstream too
        """Start waiting for the first request's headers."""
        super().connection_made(transport)
        self._patience = self.loop.call_later(HEADER_SECONDS, transport.abort)

    def on_message_begin(self) -> None:
        """Wait for the headers of a further request on the same connection."""
        super().on_message_begin()
        self._be_patient()
        self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def on_headers_complete(self) -> None:
        """Stop waiting: the headers are here."""
        self._be_patient()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: nobody is there."""
        self._be_patient()
        super().connection_lost(exc)

    def _be_patient(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
