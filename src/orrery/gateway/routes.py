"""The ping of the gateway's guest over HTTP (docs/decisions/0060)."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orrery.edge.auth import ServiceBearer
from orrery.edge.body import read_body
from orrery.edge.problems import Problem
from orrery.gateway.causes import Ping
from orrery.gateway.pings import Pings

PATH = "/ping"

LARGEST_BODY = 2048
"""Bytes; a ping has about 150."""

MOST = 1_000_000_000
"""No unit restarts more often, or is active for more seconds."""

_OFF = "This site expects no pings: `pings` in the section [gateway] of its settings is false."

Word = Annotated[str, Field(pattern=r"^[a-z0-9-]{0,40}$")]
Figure = Annotated[int, Field(ge=0, le=MOST)]

# The docstrings of these models are part of the operations' reference: they cite no source.


class PingBody(BaseModel):
    """The state of the gateway's unit, and what its probe was answered."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    state: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")]
    probe: Word
    sub_state: Word = ""
    result: Word = ""
    exec_main_status: Figure = 0
    active_seconds: Figure | None = None
    restarts: Figure = 0


class PingProblem(BaseModel):
    """A refusal: a kebab-case tag and one sentence."""

    error: str
    message: str


@dataclass(frozen=True, slots=True)
class GatewayRoutes:
    """The route of the pings. `pings` is None where none are expected."""

    pings: Pings | None
    bearer: ServiceBearer

    def router(self) -> APIRouter:
        router = APIRouter(tags=["gateway"])
        router.add_api_route(
            PATH,
            self.receive,
            methods=["POST"],
            status_code=204,
            response_class=Response,
            responses={status: {"model": PingProblem} for status in (400, 401, 404, 408, 413, 422, 429, 503)},
            openapi_extra=_DESCRIPTION,
            summary="Receive a ping of the gateway's guest",
        )
        return router

    async def receive(self, request: Request) -> Response:
        """Keep one ping."""
        if self.pings is None:
            raise Problem(404, "pings-off", _OFF)
        await self.bearer.require(request)
        body = _read(await read_body(request, LARGEST_BODY))
        await self.pings.receive(Ping(**body.model_dump()))
        return Response(status_code=204)


def _read(body: bytes) -> PingBody:
    try:
        return PingBody.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "The body"
        raise Problem(422, "invalid-field", f"{where}: {first['msg']}.") from None


_DESCRIPTION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": PingBody.model_json_schema()}},
    },
    "security": [{"serviceBearer": []}],
}
