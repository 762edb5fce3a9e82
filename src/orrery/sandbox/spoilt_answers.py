"""What comes in the place of a vendor's answer, and what becomes of one on its way."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from orrery.ports.clock import Clock

Spoil = Callable[[Response, float | None, Clock], Response]
"""Returns what arrives of an answer, by the `value` of a fault."""


class CutConnection(Response):
    """An answer that promises a body and ends without one, upon which the server closes the connection."""

    def __init__(self) -> None:
        super().__init__(status_code=0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send the head only."""
        headers = [(b"content-type", b"application/json"), (b"content-length", b"4096")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})


class LateAnswer(Response):
    """An answer that comes after a wait, or not at all when the client hangs up before."""

    def __init__(self, answer: Response, wait: Callable[[], Awaitable[None]]) -> None:
        super().__init__(status_code=answer.status_code)
        self._answer = answer
        self._wait = wait

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the time or the client, whichever is first."""
        hung_up = asyncio.ensure_future(_disconnected(receive))
        due = asyncio.ensure_future(self._wait())
        _ = await asyncio.wait({hung_up, due}, return_when=asyncio.FIRST_COMPLETED)
        answer_now = due.done()
        for task in (hung_up, due):
            _ = task.cancel()
        if answer_now:
            await self._answer(scope, receive, send)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _never() -> None:
    _ = await asyncio.Event().wait()


def hang() -> Response:
    return LateAnswer(Response(status_code=0), _never)


def late(answer: Response, seconds: float | None, clock: Clock) -> Response:
    """Return the answer after some seconds, or never."""
    return LateAnswer(answer, _never if seconds is None else lambda: clock.sleep(seconds))


def cut(_: Response, __: float | None, ___: Clock) -> Response:
    return CutConnection()


def half(answer: Response, _: float | None, __: Clock) -> Response:
    body = bytes(answer.body)
    return Response(body[: len(body) // 2], answer.status_code, media_type="application/json")


def _leaves(found: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401  JSON of any shape
    if isinstance(found, dict):
        return {name: _leaves(value, change) for name, value in cast("dict[str, Any]", found).items()}
    if isinstance(found, list):
        return [_leaves(value, change) for value in cast("list[Any]", found)]
    return change(found)


SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda _: [],
    lambda _: {},
    lambda _: None,
    lambda _: "text",
    lambda found: _leaves(found, lambda _: None),
    lambda found: _leaves(found, lambda _: ["a list"]),
    lambda found: dict.fromkeys(found) | {"id": "/of/another", "value": [None]},
)
"""What becomes of an answer in another shape."""


def reshaped(answer: Response, shape: float | None, _: Clock) -> Response:
    try:
        found = json.loads(bytes(answer.body))
    except ValueError:  # a script, or nothing
        found = {}
    shaped = json.dumps(SHAPES[int(shape or 0)](found))
    return Response(shaped, answer.status_code, media_type="application/json")


_PORTAL = "<!doctype html><title>Sign in to the network</title><p>Sign in to the network.</p>"
HTML_200, HTML_404, HTML_502 = (partial(HTMLResponse, _PORTAL, status) for status in (200, 404, 502))
EMPTY = partial(Response, status_code=200)
