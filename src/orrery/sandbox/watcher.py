"""A watcher of scheduled jobs: counts the heartbeats at an address of each job."""

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from orrery.sandbox.ground import SandboxGround

_KIND = "_ping"


def watcher_routes(ground: SandboxGround) -> list[Route]:
    """Return the route for a job's heartbeats, and that of the JSON about all jobs: `name`, `count`, `at`."""
    state, clock = ground.state, ground.clock

    async def ping(request: Request) -> Response:
        name = request.path_params["name"]
        known = state.get(_KIND, name) or {"object": _KIND, "id": name, "count": 0}
        state.save(known | {"count": known["count"] + 1, "at": clock.now().timestamp()})
        return PlainTextResponse("OK")

    async def show(_: Request) -> Response:
        return JSONResponse(
            [{"name": one["id"], "count": one["count"], "at": one["at"]} for one in state.newest_first(_KIND)]
        )

    return [Route("/ping", show, methods=["GET"]), Route("/ping/{name}", ping, methods=["GET"])]
