"""Bare connections to a server, as strangers make them."""

import socket


def read_to_end(connection: socket.socket) -> bytes:
    """Return everything until the other side closes; a reset closes, too."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found
