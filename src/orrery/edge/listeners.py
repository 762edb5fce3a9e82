"""One server with two listeners, a public and a private one (decision 42)."""

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

KERNEL_BYTES = 64 * 1024
"""Bytes that the kernel keeps for a connection, each way; by itself it would keep megabytes."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Passes a request to the app of its socket; a request that is not certainly private is public."""

    public: "ASGIApp"
    private: "ASGIApp"
    private_address: tuple[str, int]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        server: object = scope.get("server")
        # Servers may name the socket by a list; ours does not, and this line is on the path of every read.
        private = server in (self.private_address, [*self.private_address])
        await (self.private if private and scope["type"] == "http" else self.public)(scope, receive, send)


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise OSError when the address is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):  # each connection inherits them
        listener.setsockopt(socket.SOL_SOCKET, buffer, KERNEL_BYTES)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(False)
    return listener
