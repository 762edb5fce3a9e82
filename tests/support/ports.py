"""Ports of this machine: free ones for processes that are told where to listen, and one where nobody listens."""

import random
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

_NOT_GIVEN_OUT = range(10_000, 32_000)
"""Below the ports that the kernel gives to connections and to listeners that ask for any: none of them takes one
between the choice and the start, or between a kill and the next start."""


def free_ports(count: int) -> list[int]:
    """Return different ports of 127.0.0.1 that nothing listens on."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = random.choice(_NOT_GIVEN_OUT)  # noqa: S311  no secret: two suites at once shall differ
            try:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:  # somebody listens there
                continue
            found.append(port)
    return found


@contextmanager
def nobody_listening() -> Generator[int]:
    """Hold a port of 127.0.0.1 where every connection is refused, so that no other process listens at it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def is_taken(port: int) -> bool:
    """Tell whether anything listens on a port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
