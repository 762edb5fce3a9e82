"""The ping of the gateway's guest over HTTP, and the report of the cloud (docs/decisions/0060)."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
)

from orrery.edge.auth import ServiceBearer
from orrery.edge.body import read_body, wrong_field
from orrery.edge.problem import Problem
from orrery.edge.problems import problems
from orrery.edge.routes import Routes
from orrery.gateway.causes import Ping
from orrery.gateway.pings import Pings
from orrery.gateway.reports import (
    AlertState,
    CloudReport,
    GapState,
    ReportedGap,
    Reports,
)
from orrery.syntax.lines import one_line

PATH = "/ping"

LARGEST_BODY = 8192
"""Bytes; a ping has about 150, and a report less than 4000."""

LONGEST_TROUBLE = 300
"""Characters that are kept of a trouble of the cloud."""

MOST_JOBS = MOST_TROUBLES = 10
MOST_GAPS = 20

MOST = 1_000_000_000
"""No unit restarts more often, or is active for more seconds."""

_OFF = "This site expects no pings: `pings` in the section [gateway] of its settings is false."

Word = Annotated[str, Field(pattern=r"^[a-z0-9-]{0,40}$")]
Figure = Annotated[int, Field(ge=0, le=MOST)]
Named = Annotated[str, Field(pattern=r"^[A-Za-z ]{1,40}$")]
Trouble = Annotated[str, Field(max_length=2000), AfterValidator(lambda text: one_line(text, LONGEST_TROUBLE))]


class _Body(BaseModel):
    """How each body is read: unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


# The docstrings of these models are part of the operations' reference: they cite no source.


class PingBody(_Body):
    """The state of the gateway's unit, and what its probe was answered."""

    state: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")]
    probe: Word
    sub_state: Word = ""
    result: Word = ""
    exec_main_status: Figure = 0
    active_seconds: Figure | None = None
    restarts: Figure = 0
    judgement: Word = ""


class JobBody(_Body):
    """One job of the runbook."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]
    status: Named
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None


class AlertsBody(_Body):
    """Whether each alert of the cloud is on."""

    health: AlertState
    deallocate: AlertState


class OutageBody(_Body):
    """The last outage of the machine, and what ended it."""

    began_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    ended_by: Annotated[str, Field(pattern=r"^[a-z0-9 ]{0,40}$")] = ""


class GapBody(_Body):
    """A part of the cloud that is not known."""

    part: Annotated[str, Field(pattern=r"^[a-z -]{1,40}$")]
    state: GapState


class ReportBody(_Body):
    """What the cloud layer found: newest jobs first, each trouble a sentence; the parts that are not known."""

    power: Named
    health: Named
    webhook_expires_at: AwareDatetime | None = None
    alerts: AlertsBody
    jobs: Annotated[list[JobBody], Field(max_length=MOST_JOBS)] = []
    last_outage: OutageBody | None = None
    troubles: Annotated[list[Trouble], Field(max_length=MOST_TROUBLES)] = []
    unknown: Annotated[list[GapBody], Field(max_length=MOST_GAPS)] = []


class CloudBody(_Body):
    """A report of the cloud, which comes to the same address as the pings."""

    report: ReportBody


@dataclass(frozen=True, slots=True)
class GatewayRoutes:
    """The route of the pings and of the reports. `pings` is None where none are expected."""

    pings: Pings | None
    reports: Reports
    bearer: ServiceBearer

    def all(self) -> Routes:
        return Routes(public=[self.router()])

    def router(self) -> APIRouter:
        router = APIRouter(tags=["gateway"])
        router.add_api_route(
            PATH,
            self.receive,
            methods=["POST"],
            status_code=204,
            response_class=Response,
            responses=problems(400, 401, 404, 408, 413, 422, 429, 503),
            openapi_extra=_DESCRIPTION,
            summary="Receive a ping of the gateway's guest, or a report of the cloud",
        )
        return router

    async def receive(self, request: Request) -> Response:
        """Keep one ping, or one report."""
        if self.pings is None:
            raise Problem(404, "pings-off", _OFF)
        await self.bearer.require(request)
        body = _read(await read_body(request, LARGEST_BODY))
        if isinstance(body, PingBody):
            await self.pings.receive(Ping(**body.model_dump()))
        else:
            await self.reports.receive(self._report(body.report))
        return Response(status_code=204)

    def _report(self, body: ReportBody) -> CloudReport:
        now = self.reports.clock.now()
        fields = body.model_dump(exclude={"alerts", "unknown"})
        unknown = tuple(ReportedGap(part=gap.part, state=gap.state, since=now) for gap in body.unknown)
        alerts = body.alerts
        return CloudReport(
            at=now, health_alert=alerts.health, deallocate_alert=alerts.deallocate, unknown=unknown, **fields
        )


def _kind(body: object) -> Literal["ping", "report"]:
    return "report" if isinstance(body, dict) and "report" in body else "ping"


_BODY = TypeAdapter[PingBody | CloudBody](
    Annotated[
        Annotated[PingBody, Tag("ping")] | Annotated[CloudBody, Tag("report")],
        Discriminator(_kind),
    ]
)


def _read(body: bytes) -> PingBody | CloudBody:
    try:
        return _BODY.validate_json(body)
    except ValidationError as error:
        raise wrong_field(error, within=1) from None


_DESCRIPTION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"oneOf": [PingBody.model_json_schema(), CloudBody.model_json_schema()]}
            }
        },
    },
    "security": [{"serviceBearer": []}],
}
