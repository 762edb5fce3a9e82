"""What a site asks, and shows under `/guided/` on its own origin (decisions 46 and 48)."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from orrery.checkout.site.gate import AccessGate
from orrery.edge.direct import DirectRoute
from orrery.edge.problems import problems
from orrery.edge.routes import Routes

GATE = "/guided/api/gate/"

_ANSWERS = {status: Response(status_code=status) for status in (204, 401, 403)}

_SLUG: dict[str, Any] = {"in": "path", "required": True, "schema": {"type": "string"}}

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Some web servers ask by the method of the visitor's request: the answer is the same."""


@dataclass(frozen=True, slots=True)
class SiteRoutes:
    """The routes of the access gate."""

    gate: AccessGate

    def all(self) -> Routes:
        """Return all of them."""
        router = APIRouter(tags=["site"])
        router.add_api_route(
            f"{GATE}{{vendor_slug}}/{{cert_code}}",
            self.answer,
            methods=["GET"],
            status_code=204,
            response_class=Response,
            responses={401: {"description": "Unknown browser"}, 403: {"description": "No access"}} | problems(503),
            openapi_extra={"parameters": [_SLUG | {"name": name} for name in ("vendor_slug", "cert_code")]},
            summary="Ask whether a browser may see a product's pages (web servers)",
        )
        direct = DirectRoute(f"{GATE}{{vendor_slug}}/{{cert_code}}", self.answer, METHODS)
        return Routes(public=[router], direct=[direct])

    async def answer(self, request: Request) -> Response:
        """Answer 204, 401 or 403 by the site's cookie, without a body; 503 when it is not known."""
        path: str = request.scope["path"]
        return _ANSWERS[await self.gate.status(path.removeprefix(GATE), request.scope["headers"])]
