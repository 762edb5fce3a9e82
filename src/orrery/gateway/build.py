"""The parts of the gateway's site, from its settings and its secret."""

from datetime import timedelta
from typing import TYPE_CHECKING

from orrery.edge.auth import ServiceBearer
from orrery.gateway.cloud_health import CloudHealth
from orrery.gateway.health import SECRET, GatewayHealth
from orrery.gateway.overview import CLOUD_TITLE, TITLE, CloudOverview, GatewayOverview
from orrery.gateway.ping_log import PingLogs
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.reports import Reports
from orrery.gateway.settings import GatewaySettings
from orrery.ports.panels import PanelSource
from orrery.runtime.module import load
from orrery.runtime.parts import Figure, Parts
from orrery.runtime.runtime import Runtime

if TYPE_CHECKING:
    from orrery.edge.routes import Routes
    from orrery.gateway.routes import GatewayRoutes


def build(runtime: Runtime) -> Parts:
    """Return what takes the pings, and what shows them."""
    tokens = runtime.secret_values(SECRET)
    plan = _plan(runtime, has_token=bool(tokens))
    pings = Pings(runtime.store, runtime.clock, plan)
    reports = Reports(runtime.store, runtime.clock)
    health = GatewayHealth(pings, runtime.clock, plan)
    cloud = CloudHealth(reports, runtime.clock, expects=plan.expects)
    bearer = ServiceBearer(tokens, runtime.clock)

    def routes() -> "Routes":
        make: type[GatewayRoutes] = load("orrery.gateway.routes:GatewayRoutes")
        return make(pings if plan.expects else None, reports, bearer).all()

    return Parts(
        module="gateway",
        routes=routes,
        checks=[health.check, cloud.check],
        panels=[
            PanelSource(TITLE, GatewayOverview(health, runtime.clock).panel, 75, ("gateway",)),
            PanelSource(
                CLOUD_TITLE, CloudOverview(cloud, runtime.clock).panel, 76, ("gateway cloud", "gateway webhook")
            ),
        ],
        figures=[
            Figure(
                "orrery_gateway_pings",
                "Pings of the gateway's guest.",
                "finding",
                pings.received,
            )
        ],
        unreadable=[pings.last.unreadable, pings.stretches.unreadable, reports.last.unreadable],
        offers={PingLogs: PingLogs(pings, reports, runtime.clock)},
        migrations=[pings.expect, *([] if plan.expects else [reports.forget])],
    )


def _plan(runtime: Runtime, *, has_token: bool) -> GatewayPlan:
    settings = runtime.section(GatewaySettings)
    grace = timedelta(seconds=settings.ping_grace)
    return GatewayPlan(settings.pings, has_token, grace, settings.token_script or "")
