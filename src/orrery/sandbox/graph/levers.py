"""The levers of Microsoft Graph, as JSON: what others do in a mailbox, and everything that can be known."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.graph.world import World
from orrery.sandbox.state import Document


class Levers:
    """Changes from outside, and everything that can be known."""

    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        return [
            Route("/_graph", self.show, methods=["GET"]),
            Route("/_graph/sends", self.forget_sends, methods=["DELETE"]),
        ]

    async def show(self, _: Request) -> Response:
        """Return everything that is known."""
        return JSONResponse(self.known())

    async def forget_sends(self, _: Request) -> Response:
        """Return the calls that sent something, and forget them."""
        sends = self._world.sends()
        self._world.forget_sends()
        return JSONResponse({"sends": sends})

    def known(self) -> Document:
        return {
            "url": self._world.url,
            "requests": {account: dict(calls) for account, calls in self._world.requests.items()},
            "sends": self._world.sends(),
        }
