"""What is private is shown on the private socket only (decision 42)."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from orrery.edge.listeners import Listeners
from tests.support.tables import each_case

PRIVATE = ("127.0.0.1", 8081)
LISTENERS = Listeners(PlainTextResponse("public"), PlainTextResponse("private"), PRIVATE)


async def answer(scope: Scope) -> bytes:
    """Return which app answered."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    await LISTENERS(scope, receive, send)
    return sent[-1]["body"]


def scope(server: object, kind: str = "http") -> Scope:
    """Return the scope of a request that came in by that socket, and says in its headers that it is private."""
    headers = [(b"host", b"127.0.0.1:8081"), (b"x-forwarded-host", b"127.0.0.1:8081")]
    return {"type": kind, "method": "GET", "path": "/", "headers": headers, "server": server, "scheme": "http"}


@pytest.mark.parametrize("server", [PRIVATE, list(PRIVATE)])
async def test_the_private_socket(server: object) -> None:
    """A request that came in by the private socket's exact address gets the private app."""
    assert await answer(scope(server)) == b"private"


@each_case(
    "server",
    [
        ("127.0.0.1", 8080),
        ("127.0.0.2", 8081),
        ("0.0.0.0", 8081),  # noqa: S104  an address that came in, not one that is listened on
        ("::1", 8081),
        ("localhost", 8081),
        ("127.0.0.1", "8081"),
        ("127.0.0.1", None),
        ("/run/orrery.sock", None),
        (),
        None,
    ],
)
async def test_everything_else_is_public(server: object) -> None:
    """Any other socket, a unix socket or none that is known gets the public app, whatever the headers say."""
    assert await answer(scope(server)) == b"public"


async def test_an_unknown_server_is_public() -> None:
    """A server that does not say where the request came in is public."""
    unknown = scope(None)
    del unknown["server"]
    assert await answer(unknown) == b"public"
