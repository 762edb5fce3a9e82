"""A stand-in for the partner of the waiting list: it counts who asks."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.ground import SandboxGround

_KIND = "_partner"


def partner_routes(ground: SandboxGround) -> list[Route]:
    """Return the one route of the partner."""

    async def ask(_: Request) -> Response:
        known = ground.state.get(_KIND, "asked") or {"object": _KIND, "id": "asked", "count": 0}
        ground.state.save(known | {"count": known["count"] + 1})
        return JSONResponse({"asked": known["count"] + 1})

    return [Route("/partner", ask, methods=["GET"])]
