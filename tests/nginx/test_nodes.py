"""Two nodes behind the site: what one of them cannot answer the other does, and is asked for once by each."""

import socket
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import pytest

from tests.nginx.edge import Edge
from tests.nginx.origin import Origin, running_origin
from tests.support.nginx import beside
from tests.support.waiting import until

Edged = Callable[[Mapping[str, str]], Edge]
WEBHOOK = "/guided/api/webhook"


@contextmanager
def ending_with_each_request() -> Generator[int]:
    """Yield the port of a node that ends whenever it has a request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1 << 16)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_node_that_ends_with_each_request(edge_with: Edged, origin: Origin, method: str) -> None:
    """Each request is answered by the other node, which gets it once and whole."""
    with ending_with_each_request() as port:
        edge = edge_with(beside(origin.port, port))
        bodies = [f"{number}".encode() for number in range(20)]
        answers = [edge.client.request(method, WEBHOOK, content=body) for body in bodies]
    assert [one.status_code for one in answers] == [200] * len(bodies)
    assert [one.body for one in origin.asked] == bodies


def test_a_node_that_is_away_and_comes_back(edge_with: Edged, origin: Origin) -> None:
    """While a node is away the other is asked, and it is asked again once it is back."""
    with running_origin() as other:
        soon = {old: new.replace("=4s", "=1s") for old, new in beside(origin.port, other.port).items()}
        edge = edge_with(soon)

        def post() -> None:
            assert edge.client.post(WEBHOOK).status_code == 200

        for _ in range(4):
            post()
        assert (len(origin.asked), len(other.asked)) == (2, 2)
        other.stop()
        for _ in range(20):
            post()
        assert len(other.asked) == 2
        other.start()
        until(lambda: post() or len(other.asked) > 2)


def test_a_node_that_is_killed_as_the_other_comes_back(edge_with: Edged, origin: Origin) -> None:
    """The one that was away is asked at once, though nginx leaves it out for some seconds more."""
    with running_origin() as other:
        edge = edge_with(beside(origin.port, other.port))
        other.stop()
        for _ in range(4):
            assert edge.client.post(WEBHOOK).status_code == 200
        other.start()
        origin.stop()
        assert [edge.client.post(WEBHOOK).status_code for _ in range(4)] == [200] * 4
        assert len(other.asked) == 4
        origin.start()


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_node_that_has_answered(edge_with: Edged, origin: Origin, status: int) -> None:
    """An answer is an answer: no other node is asked, and no node is left out, or one broken product stops all."""
    with running_origin() as other:
        edge = edge_with(beside(origin.port, other.port))
        origin.status = other.status = status
        assert [edge.client.post(WEBHOOK).status_code for _ in range(6)] == [status] * 6
        assert (len(origin.asked), len(other.asked)) == (3, 3)
