"""One deployment, as the commands and the server use it."""

from dataclasses import dataclass

from starlette.types import ASGIApp

from orrery.app.parts import Parts
from orrery.checkout.domain import CheckoutDomain
from orrery.edge.auth import AdminBasic
from orrery.edge.fast import FastReads
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.owner_page import OwnerPage, PanelSource
from orrery.fraud.domain import FraudDomain
from orrery.live.domain import LiveDomain
from orrery.owner.approvals import Approvals
from orrery.owner.outbox import Outbox
from orrery.owner.overview import Overview
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
    parts: Parts
    readiness: Readiness
    secrets_check: SecretsCheck
    gate: AdminBasic
    mode: str

    def panels(self) -> list[PanelSource]:
        """Return what the owner's page shows; a part joins by a line here."""
        overview = Overview(self.outbox, self.parts.without_panels)
        return [
            PanelSource("Sales", self.checkout.sales.panel),
            PanelSource("Payments and access", self.checkout.reconciliation.panel),
            PanelSource("Approvals", self.approvals.panel),
            PanelSource("Secrets", self.secrets_check.panel),
            PanelSource("Receipts", self.checkout.preflight.panel),
            PanelSource("What visitors get", self.checkout.verification.panel),
            PanelSource("Fraud clusters", self.fraud.panel),
            PanelSource("Live counter", self.live.overview.panel),
            PanelSource("Notifications", overview.notifications),
            PanelSource("Parts", overview.parts),
        ]

    def apps(self, site: ASGIApp | None = None) -> tuple[ASGIApp, ASGIApp]:
        """Return the public app, with `site` behind its operations, and the private one."""
        metrics = Metrics()
        says, refused = "Webhooks that were refused, by reason.", self.checkout.refusals.counts
        metrics.watch("orrery_webhook_refused", says, "reason", refused)
        checkout, live = self.checkout.routes, self.live.routes
        public = public_app(
            [checkout.router(), live.router()], checkout.direct(), self.readiness.last, metrics, site
        )
        page = OwnerPage(self.gate, self.clock, self.panels(), mode=self.mode, within=self.references.within)
        undelivered, held = self.parts.health.undelivered, self.secrets_check.held_fingerprints
        private = private_app(public, self.readiness.last, metrics, undelivered, page, held)
        count = metrics.counter_of(LiveDomain.PATH)
        return FastReads(public, LiveDomain.PATH, self.live.fast(), count), private
