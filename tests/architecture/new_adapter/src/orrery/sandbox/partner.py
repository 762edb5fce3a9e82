"""A stand-in for the partner: it takes notices and shows them."""

from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.ground import SandboxGround

_KIND = "_partner"


def partner_routes(ground: SandboxGround) -> list[Route]:
    """Return the routes of the partner."""

    async def take(request: Request) -> Response:
        text = (await request.json()).get("text")
        if not text:
            return JSONResponse({"error": "A notice has a text."}, 422)
        notice = {"object": _KIND, "id": uuid4().hex, "text": text}
        ground.state.save(notice)
        return JSONResponse({"id": notice["id"]}, 201)

    async def show(_: Request) -> Response:
        found = ground.state.newest_first(_KIND)
        return JSONResponse([{"id": one["id"], "text": one["text"]} for one in found])

    return [
        Route("/partner/notices", take, methods=["POST"]),
        Route("/partner/notices", show, methods=["GET"]),
    ]
