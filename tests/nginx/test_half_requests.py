"""Half a request is closed, holds nobody, and never reaches the origin."""

import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, contextmanager

import pytest

from tests.nginx.edge import SITE_READ, Edge
from tests.nginx.origin import Origin
from tests.support.connections import read_to_end
from tests.support.waiting import PATIENCE

SHORT = {
    "client_header_timeout 10s;\n    large": "client_header_timeout 1s;\n    large",
    "client_header_timeout 10s;\n    client": "client_header_timeout 1s;\n    client",
    "client_body_timeout 10s;": "client_body_timeout 1s;",
}
"""The same limits, shorter."""

HALF_HEAD = f"GET {SITE_READ} HTTP/1.1\r\nHost: shop.example\r\nX-More: ".encode()
HALF_BODY = b"POST /guided/api/webhook HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 100\r\n\r\n{"
HALF_CHUNKS = (
    b"POST /guided/api/webhook HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"
)
HALF_READ = f"GET {SITE_READ} HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 100\r\n\r\n{{".encode()
HALVES = [HALF_HEAD, HALF_BODY, HALF_CHUNKS, HALF_READ, b"G", b""]

STRANGER = "127.0.0.2"

DRIP = 0.2
"""Real seconds from one byte to the next: each alone would be soon enough."""


@pytest.fixture
def hasty(edge_with: Callable[[Mapping[str, str]], Edge]) -> Edge:
    """Run an edge with the same limits, shorter."""
    return edge_with(SHORT)


@contextmanager
def sent(edge: Edge, half: bytes, times: int = 1) -> Generator[list[socket.socket]]:
    """Send half a request over each of so many connections."""
    with ExitStack() as stack:
        connections: list[socket.socket] = []
        for _ in range(times):
            connection = stack.enter_context(closing(_connected(edge.port)))
            connection.sendall(half)
            connections.append(connection)
        yield connections


def _connected(port: int) -> socket.socket:
    """Return a connection from an address that nobody else here has."""
    return socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(STRANGER, 0))


def test_half_a_request_is_closed(hasty: Edge, origin: Origin) -> None:
    """A connection whose request does not go on is closed, and the origin has heard nothing of it."""
    with ExitStack() as stack:  # all at once: each takes its second
        for (connection,) in [stack.enter_context(sent(hasty, half)) for half in HALVES]:
            assert b" 200 " not in read_to_end(connection)
    assert origin.asked == []


def test_headers_that_drip_are_closed(hasty: Edge) -> None:
    """A byte now and then does not prolong the time for the headers: it is counted from the first one."""
    with sent(hasty, HALF_HEAD) as (connection,):
        connection.settimeout(DRIP)
        assert _drips_until_closed(connection) < PATIENCE / DRIP


def test_half_requests_hold_nobody(edge: Edge) -> None:
    """While a hundred half requests of a kind are open, others are answered by the one worker."""
    for number, half in enumerate(HALVES, start=2):
        with sent(edge, half, times=100):
            assert [edge.active() for _ in range(10)] == [1] * 10, half
            assert edge.client.post("/guided/api/webhook", content=b"{}").json() == {"active": number}


def test_half_bodies_of_one_address_are_limited(edge: Edge) -> None:
    """One address gets so many requests under way and no more; the reads are not among them."""
    with sent(edge, HALF_BODY, times=64):
        assert edge.active() == 1
    # The body of a request is read before it is passed on, so it is the 65th one's headers that are refused.
    with sent(edge, HALF_BODY, times=65) as connections:
        assert b" 429 " in connections[-1].recv(65536)


def test_a_body_reaches_the_origin_whole(edge: Edge, origin: Origin) -> None:
    """A body that comes in two pieces arrives unchanged, in one."""
    body = b"x" * 300_000
    with sent(edge, b"") as (connection,):
        head = f"POST /guided/api/webhook HTTP/1.1\r\nHost: shop.example\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body[:1000])
        assert edge.active() == 1
        connection.sendall(body[1000:])
        assert b" 200 " in connection.recv(65536)
    assert origin.asked[1].body == body


def test_a_body_beyond_the_largest_is_refused(edge: Edge, origin: Origin) -> None:
    """1 MiB, the largest webhook that is read, passes; one byte more is refused before it is sent."""
    largest = 1024 * 1024
    assert edge.client.post("/guided/api/webhook", content=b"x" * largest).status_code == 200
    with sent(edge, HALF_BODY.replace(b"100", str(largest + 1).encode())) as (connection,):
        assert b" 413 " in connection.recv(65536)
    assert len(origin.asked) == 1


@pytest.mark.parametrize(("length", "status"), [(8_000, 200), (9_000, 400), (1_000_000, 400)])
def test_long_headers(edge: Edge, length: int, status: int) -> None:
    """A header of 8 kB passes; a longer one is refused without the origin."""
    with sent(edge, b"") as (connection,):
        head = f"GET /readyz HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer {'x' * length}\r\n\r\n"
        try:
            connection.sendall(head.encode())
        except (ConnectionResetError, BrokenPipeError):
            assert status != 200
        assert f" {status} ".encode() in connection.recv(65536)


def _drips_until_closed(connection: socket.socket) -> int:
    """Send a byte whenever nothing came for the socket's time-out; return how many were sent until it closed."""
    drops = 0
    while drops < PATIENCE / DRIP:
        try:
            if connection.recv(65536) == b"":
                break
        except TimeoutError:
            drops += 1
            connection.sendall(b"x")
        except (ConnectionResetError, BrokenPipeError):
            break
    return drops
