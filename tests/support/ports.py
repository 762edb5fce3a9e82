"""Free ports of this machine, for processes that are told where to listen."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Return different ports of 127.0.0.1 that nothing listens on."""
    with ExitStack() as held:
        listeners = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(listener.getsockname()[1]) for listener in listeners]


def is_taken(port: int) -> bool:
    """Tell whether anything listens on a port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
