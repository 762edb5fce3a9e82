"""The sockets that a server of ours listens on, and why it cannot."""

import socket
from errno import EADDRINUSE

from orrery.edge.listeners import bind
from orrery.errors import OrreryError


class AddressTakenError(OrreryError):
    """Something else listens there already."""


def why_not_to_listen(host: str, port: int) -> str:
    """Return why no program can listen there, or nothing; a listener of the running service is no reason."""
    try:
        bind(host, port).close()
    except OSError as error:
        return "" if error.errno == EADDRINUSE else f"{host}:{port} cannot be listened on: {error.strerror}."
    return ""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise `AddressTakenError`."""
    try:
        return bind(host, port)
    except OSError as error:
        raise AddressTakenError(f"{host}:{port} cannot be listened on: {error.strerror}.") from None
