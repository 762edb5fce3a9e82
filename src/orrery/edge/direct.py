"""Operations that are answered ahead of the framework, which takes a third of a webhook's time.

The framework declares the same operations, for the description, and gets what they raise, as any other error.
"""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.edge.headers import DEFAULTS
from orrery.edge.metrics import STARTED, Metrics
from orrery.edge.whole_answer import WholeAnswer

_RAISED = "orrery.raised"


class DirectRoute(Route):
    """A request of `path`. `operation` raises what `problems.py` answers, or returns the body of a 200.

    Or it returns a response without a body. A path with parameters takes all that begins as it does.
    """

    def __init__(
        self,
        path: str,
        operation: Callable[[Request], Awaitable[BaseModel | Response]],
        methods: Sequence[str] = ("POST",),
    ) -> None:
        super().__init__(path, self._answer, methods=methods)
        self.operation = operation
        self._begins, parameters, _ = path.partition("{")
        self._is_whole = not parameters

    def takes(self, scope: Scope) -> bool:
        """Return whether a request is for this route."""
        if scope["type"] != "http" or not scope["path"].startswith(self._begins):
            return False
        return scope["method"] in (self.methods or ()) and (not self._is_whole or scope["path"] == self.path)

    def matches(self, scope: Scope) -> tuple[Match, dict[str, Any]]:
        """Match what it takes, and else as usual, and name this route for the figures."""
        match, child = super().matches(scope)
        if self.takes(scope):  # also what has a slash too many for its parameters
            match, child = Match.FULL, {"endpoint": self.endpoint, **child}
        return match, {} if match is Match.NONE else {**child, "route": self}

    async def _answer(self, request: Request) -> Response:
        if error := request.scope.get(_RAISED):
            raise error
        found = await self.operation(request)
        return found if isinstance(found, Response) else JSONResponse(found.model_dump())


class AnsweredDirectly:
    """Answers one route; everything else, and what its operation raises, is for the app, which has it too."""

    def __init__(self, app: ASGIApp, route: DirectRoute, metrics: Metrics) -> None:
        self._app = app
        self._route = route
        self._count = metrics.counter_of(route.path)
        self._seconds = metrics.seconds.labels(route.path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if not self._route.takes(scope):
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        try:
            found = await self._route.operation(Request(scope, receive, send))
        except (Exception, CancelledError) as error:  # noqa: BLE001  the app raises it again, and counts it
            await self._app({**scope, STARTED: started, _RAISED: error}, receive, send)
            return
        whole = _whole(found if isinstance(found, Response) else found.model_dump_json())
        try:
            await whole.send(send)
        finally:
            self._count(scope["method"], whole.start["status"])
            self._seconds.observe(perf_counter() - started)


@lru_cache(maxsize=16)
def _whole(answer: str | Response) -> WholeAnswer:
    if isinstance(answer, Response):
        return WholeAnswer(b"", [*DEFAULTS], answer.status_code)
    return WholeAnswer(answer.encode(), [*DEFAULTS])
