"""Clients that keep a connection without using it, or that never stop talking: the service lets go of them."""

import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from orrery.edge.uvicorn_protocol import HEADER_BYTES, MESSAGE_BYTES, MOST_AHEAD
from tests.support.connections import read_to_end
from tests.support.deployment import Deployment
from tests.support.waiting import PATIENCE, eventually

ALIVE = b"GET /healthz HTTP/1.1\r\nHost: shop.example\r\n"
UNSUPPORTED = b"POST /guided/api/checkout HTTP/1.1\r\nHost: shop.example\r\n"
LINGERING: dict[str, tuple[bytes, bytes]] = {
    "nothing at all": (b"", b""),
    "half a request": (b"", ALIVE),
    "an empty line after a request": (ALIVE + b"\r\n", b"\r\n"),
    "half a request after a request": (ALIVE + b"\r\n", ALIVE),
    "a body that nobody asked for": (ALIVE + b"Content-Length: 100000\r\n\r\n", b"x"),
    "a body that was refused": (UNSUPPORTED + b"Content-Length: 4000\r\n\r\n", b"x"),
    "chunks that nobody asked for": (ALIVE + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}


def connect(shop: Deployment) -> socket.socket:
    """Open a connection to the public listener."""
    return socket.create_connection(("127.0.0.1", shop.ports[0]), timeout=PATIENCE)


def lets_go(shop: Deployment, first: bytes, then: bytes) -> bool:
    """Send the first part, read its answer if it is a request, send the rest; return whether that ended."""
    with connect(shop) as client:
        client.sendall(first)
        if first:
            client.recv(65536)
        client.sendall(then)
        try:
            while client.recv(65536):
                continue
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True


def test_nobody_keeps_a_connection_without_using_it(shop: Deployment) -> None:
    """Whatever is sent or left out, a connection without a whole request ends within the time for its headers."""
    with ThreadPoolExecutor(len(LINGERING)) as pool:
        ended = {name: pool.submit(lets_go, shop, *parts) for name, parts in LINGERING.items()}
        assert {name: end.result() for name, end in ended.items()} == dict.fromkeys(LINGERING, True)


def sent_before_the_end(client: socket.socket, start: bytes, more: bytes, most: int) -> int:
    """Send without end, up to `most` bytes; return how many were taken before the connection ended."""
    client.sendall(start)
    taken = 0
    try:
        while taken < most:
            client.sendall(more)
            taken += len(more)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return taken


@pytest.mark.parametrize(
    ("start", "more", "limit"),
    [
        (ALIVE, b"X-More: " + b"a" * 4000 + b"\r\n", HEADER_BYTES),
        (ALIVE + b"X-Long: ", b"a" * 4000, HEADER_BYTES),
        (b"GET /", b"a" * 4000, HEADER_BYTES),
        (ALIVE + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-More: " + b"a" * 4000 + b"\r\n", MESSAGE_BYTES),
    ],
    ids=["many headers", "a long header", "a long address", "trailers"],
)
def test_nobody_talks_without_end(shop: Deployment, start: bytes, more: bytes, limit: int) -> None:
    """Headers, addresses and trailers without end close the connection long before they fill the memory."""
    most = 16 * 1024 * 1024 + limit
    with connect(shop) as client:
        assert sent_before_the_end(client, start, more, most) < most
    assert shop.client.get(f"{shop.public}/healthz").status_code == 200


def test_nobody_sends_far_ahead(shop: Deployment) -> None:
    """Thousands of requests sent ahead of their answers end the connection: each takes a lot of memory."""
    with connect(shop) as client:
        client.sendall((ALIVE + b"\r\n") * 2000)
        seen = read_to_end(client)
    assert seen.count(b"HTTP/1.1 200") <= MOST_AHEAD + 1


def test_nobody_keeps_an_answer_unread(shop: Deployment) -> None:
    """A client that asks again and again and reads nothing is let go, and its answers with it."""
    asking = b"GET /live/tile.js HTTP/1.1\r\nHost: shop.example\r\n\r\n" * 4
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", shop.ports[0]))
        eventually(partial(expect_let_go, client, asking))


def expect_let_go(client: socket.socket, asking: bytes) -> None:
    """Ask once more; fail, for now, while the other side takes it."""
    try:
        client.sendall(asking)
    except (BrokenPipeError, ConnectionResetError):
        return
    raise AssertionError("it is still taken")


def test_a_connection_is_used_again_and_again(shop: Deployment) -> None:
    """Requests that follow each other on one connection, at once or one by one, are all answered."""
    with connect(shop) as client:
        client.sendall((ALIVE + b"\r\n") * 3)
        seen = b""
        while seen.count(b"HTTP/1.1 200") < 3:
            seen += client.recv(65536)
        client.sendall(b"\r\n" + ALIVE + b"Connection: close\r\n\r\n")
        while more := client.recv(65536):
            seen += more
    assert seen.count(b'{"alive":true}') == 4
