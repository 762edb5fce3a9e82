"""The HTTP apps of a deployment, which only a process that listens loads."""

from datetime import timedelta

from starlette.types import ASGIApp

from orrery.app.deployment import Orrery
from orrery.edge.auth import AdminBasic, GuessLimiter
from orrery.edge.direct import AnsweredDirectly
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.public_reads import PublicReads
from orrery.owner_page.page import OwnerPage, Presses
from orrery.owner_page.verdicts import judged
from orrery.runtime.findings import Findings
from orrery.runtime.parts import routes_of
from orrery.runtime.problems import Problems
from orrery.runtime.readiness import Readiness
from orrery.runtime.references import References

ADMIN_PASSWORD = "admin_password_hash"  # noqa: S105  the name of a secret
"""The secret whose password opens the owner's page."""

ASIDE = timedelta(days=1)
"""How long the button of the page puts a problem aside."""


def apps_of(orrery: Orrery, site: ASGIApp | None = None) -> tuple[ASGIApp, ASGIApp]:
    """Return the public app, with `site` behind its operations, and the private one."""
    metrics, readiness, all_routes = Metrics(), orrery[Readiness].last, routes_of(orrery.modules)
    for figure in (one for parts in orrery.modules for one in parts.figures):
        metrics.watch(figure.name, figure.help, figure.label, figure.counts)
    direct = [one for routes in all_routes for one in routes.direct]
    public = public_app([one for routes in all_routes for one in routes.public], direct, readiness, metrics, site)
    undelivered = orrery[Findings].health.undelivered
    routers = [_page(orrery).router(), *(one for routes in all_routes for one in routes.private)]
    private = private_app(public, readiness, metrics, undelivered, routers, orrery[Problems].by_severity)
    app: ASGIApp = public
    for route in direct:
        app = AnsweredDirectly(app, route, metrics)
    for path, reads in (read for routes in all_routes for read in routes.reads.items()):
        app = PublicReads(app, path, reads, metrics.counter_of(path))
    return app, private


def _page(orrery: Orrery) -> OwnerPage:
    password = AdminBasic(orrery.adapters.secrets.reveal(ADMIN_PASSWORD), orrery[GuessLimiter])
    sources = sorted((one for parts in orrery.modules for one in parts.panels), key=lambda one: one.order)
    panels = judged(sources, lambda: orrery[Problems].last)
    mode, within = orrery.adapters.settings.mode, orrery[References].within
    problems = orrery[Problems]
    presses: Presses = {
        "aside": lambda key, seen: problems.acknowledge(key, ASIDE, seen=seen or "nothing"),
        "back": lambda key, _: problems.end(key),
    }
    return OwnerPage(password, orrery.adapters.clock, panels, mode=mode, within=within, presses=presses)
