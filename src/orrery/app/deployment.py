"""One deployment, as the commands and the server use it."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp

from orrery.app.findings import Findings
from orrery.checkout.domain import CheckoutDomain
from orrery.edge.auth import AdminBasic
from orrery.edge.fast import FastReads
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.owner_page import OwnerPage
from orrery.fraud.domain import FraudDomain
from orrery.live.domain import LiveDomain
from orrery.module import Parts
from orrery.owner.approvals import Approvals
from orrery.owner.outbox import Outbox
from orrery.owner.readiness import Readiness
from orrery.owner.references import References
from orrery.owner.secrets_check import SecretsCheck
from orrery.owner.workers import Workers
from orrery.ports.clock import Clock
from orrery.ports.processor import ProcessorReads
from orrery.ports.store import Store


@dataclass(frozen=True, slots=True)
class Orrery:
    """One deployment, composed over its open store."""

    clock: Clock
    store: Store
    references: References
    outbox: Outbox
    approvals: Approvals
    checkout: CheckoutDomain
    live: LiveDomain
    fraud: FraudDomain
    reads: ProcessorReads
    workers: Workers
    modules: Sequence[Parts]
    findings: Findings
    readiness: Readiness
    secrets_check: SecretsCheck
    gate: AdminBasic
    mode: str

    def apps(self, site: ASGIApp | None = None) -> tuple[ASGIApp, ASGIApp]:
        """Return the public app, with `site` behind its operations, and the private one."""
        metrics = Metrics()
        for figure in (one for parts in self.modules for one in parts.figures):
            metrics.watch(figure.name, figure.help, figure.label, figure.counts)
        routers = [one for parts in self.modules for one in parts.routers]
        direct = [one for parts in self.modules for one in parts.direct]
        public = public_app(routers, direct, self.readiness.last, metrics, site)
        private = private_app(
            public,
            self.readiness.last,
            metrics,
            self.findings.health.undelivered,
            self._page(),
            self.secrets_check.held_fingerprints,
            [one for parts in self.modules for one in parts.private_routers],
        )
        app: ASGIApp = public
        for path, sources in (read for parts in self.modules for read in parts.reads.items()):
            app = FastReads(app, path, sources, metrics.counter_of(path))
        return app, private

    def _page(self) -> OwnerPage:
        panels = sorted((one for parts in self.modules for one in parts.panels), key=lambda one: one.order)
        return OwnerPage(self.gate, self.clock, panels, mode=self.mode, within=self.references.within)
