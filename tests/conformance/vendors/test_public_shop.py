"""The public operation by its adapter: what is asked, and what is taken for a session."""

import asyncio
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orrery.adapters.public_shop import LONGEST_ANSWER, PATH, SECONDS, HttpShop
from orrery.ports.shop import Started
from tests.support.hasty_loop import run_ahead
from tests.support.serving import served


@dataclass
class Operation:
    """A public operation that answers as the test asks."""

    status: int = 200
    answer: bytes = b""
    asked: list[tuple[object, str | None]] = field(default_factory=list[tuple[object, str | None]])
    url: str = ""

    async def take(self, request: Request) -> Response:
        """Answer one request."""
        self.asked.append((json.loads(await request.body()), request.headers.get("idempotency-key")))
        headers = {"Location": "/elsewhere"} if self.status == 302 else None
        return Response(self.answer, self.status, headers)


@pytest.fixture(scope="module")
def server() -> Iterator[Operation]:
    """One server for all tests: starting one takes a while."""
    operation = Operation()
    with served(Starlette(routes=[Route(PATH, operation.take, methods=["POST"])])) as operation.url:
        yield operation


@pytest.fixture
def operation(server: Operation) -> Operation:
    """Return the server, with nothing of the test before."""
    server.asked.clear()
    return server


async def start(url: str) -> Started:
    """Ask for a session."""
    return await HttpShop(url).start(
        product_type="cert", vendor_slug="northwind", cert_code="navigator", key="verify-1"
    )


def answered(operation: Operation, status: int, answer: bytes) -> Started:
    """Return what is made of an answer."""
    operation.status, operation.answer = status, answer
    return asyncio.run(start(operation.url))


def test_a_session(operation: Operation) -> None:
    """The request is a visitor's, under its own key; the session's id is read from the answer."""
    assert answered(operation, 200, b'{"id": "cs_live_1", "url": "https://pay.example/1"}') == Started("cs_live_1")
    asked = {"productType": "cert", "certCode": "navigator", "vendorSlug": "northwind"}
    assert operation.asked == [(asked, "verify-1")]


@pytest.mark.parametrize(
    ("status", "answer", "tag"),
    [
        (503, b'{"error": "not-preflighted", "message": "Later."}', "not-preflighted"),
        (404, b'{"error": "unknown-product", "message": "No."}', "unknown-product"),
        (429, b'{"error": "too-many-requests", "message": "Later."}', "too-many-requests"),
    ],
)
def test_the_service_says_no(operation: Operation, status: int, answer: bytes, tag: str) -> None:
    """What the service itself refuses is raised with its tag: there is no session."""
    assert answered(operation, status, answer) == Started(None, f"The operation answered {status} {tag}.")


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (502, b"<html>Bad gateway</html>"),
        (200, b"<html>A page</html>"),
        (200, b'{"id": "../../v1/account"}'),
        (200, b'{"id": 5}'),
        (302, b""),
        (400, b'{"error": "Write\\nthis", "message": "x"}'),
    ],
)
def test_no_session(operation: Operation, status: int, answer: bytes) -> None:
    """Any other answer is reported in our words only; it leaves open whether there is a session."""
    found = answered(operation, status, answer)
    assert found == Started(
        None, f"The operation answered {status}, and not as this service does.", may_exist=True
    )


def test_an_answer_without_an_end(operation: Operation) -> None:
    """Of an answer that is too long no more is read than its bound; there may be a session."""
    found = answered(operation, 200, b"x" * (LONGEST_ANSWER * 4))
    assert found == Started(None, "The operation's answer cannot be read: it is too long.", may_exist=True)


def test_nobody_there() -> None:
    """Without a listener there is no session."""
    found = asyncio.run(start("http://127.0.0.1:9"))
    assert (found.session_id, found.may_exist) == (None, False)
    assert found.why.startswith("The operation cannot be reached")


def test_no_answer() -> None:
    """An operation that never answers is given up."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        found = run_ahead(start(url), SECONDS)
    assert found == Started(None, "The operation did not answer within 20 s.", may_exist=True)
