"""Operations that are answered ahead of the framework, which takes a third of a webhook's time.

The framework declares the same operations, for the description, and gets what they raise, as any other error.
"""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from functools import lru_cache
from time import perf_counter
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.edge.headers import DEFAULTS
from orrery.edge.metrics import STARTED, Metrics
from orrery.edge.whole_answer import WholeAnswer

_RAISED = "orrery.raised"


class DirectRoute(Route):
    """A POST of `path`. `operation` returns the body of a 200, or raises what `problems.py` answers."""

    def __init__(self, path: str, operation: Callable[[Request], Awaitable[BaseModel]]) -> None:
        super().__init__(path, self._answer, methods=["POST"])
        self.operation = operation

    def matches(self, scope: Scope) -> tuple[Match, dict[str, Any]]:
        """Match as usual, and name this route for the figures."""
        match, child = super().matches(scope)
        return match, {} if match is Match.NONE else {**child, "route": self}

    async def _answer(self, request: Request) -> JSONResponse:
        if error := request.scope.get(_RAISED):
            raise error
        return JSONResponse((await self.operation(request)).model_dump())


class AnsweredDirectly:
    """Answers one route; everything else, and what its operation raises, is for the app, which has it too."""

    def __init__(self, app: ASGIApp, route: DirectRoute, metrics: Metrics) -> None:
        self._app = app
        self._route = route
        self._count = metrics.counter_of(route.path)
        self._seconds = metrics.seconds.labels(route.path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != self._route.path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        try:
            body = await self._route.operation(Request(scope, receive, send))
        except (Exception, CancelledError) as error:  # noqa: BLE001  the app raises it again, and counts it
            await self._app({**scope, STARTED: started, _RAISED: error}, receive, send)
            return
        try:
            await _whole(body.model_dump_json()).send(send)
        finally:
            self._count("POST", 200)
            self._seconds.observe(perf_counter() - started)


@lru_cache(maxsize=16)
def _whole(body: str) -> WholeAnswer:
    return WholeAnswer(body.encode(), [*DEFAULTS])
