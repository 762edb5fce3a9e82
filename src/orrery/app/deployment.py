"""One deployment, as the commands and the server use it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.types import ASGIApp

from orrery.checkout.domain import CheckoutDomain
from orrery.edge.auth import AdminBasic
from orrery.edge.fast import FastReads
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.owner_page import OwnerPage, PanelSource
from orrery.fraud.domain import FraudDomain
from orrery.live.domain import LiveDomain
from orrery.owner.approvals import Approvals
from orrery.owner.guard import SecretsGuard
from orrery.owner.health import Health
from orrery.owner.outbox import Outbox
from orrery.owner.overview import Overview
from orrery.owner.references import References
from orrery.owner.workers import Workers
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
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
    health: Health
    guard: SecretsGuard
    gate: AdminBasic
    mode: str

    async def findings(self) -> Sequence[Finding]:
        """Return how every part is, without asking anybody outside."""
        receipts, secrets = await self.checkout.receipts.local(), await self.guard.findings()
        return [*await self.parts(), *receipts, *secrets]

    async def parts(self) -> Sequence[Finding]:
        """Return the same without receipts and secrets, which have panels of their own on the owner's page."""
        found = [*await self.health.local(), *await self.checkout.health.local(), *self.live.health.local()]
        # A job's error may name a record, and with it a session.
        return [replace(one, why=self.references.within(one.why)) for one in found]

    def panels(self) -> list[PanelSource]:
        """Return what the owner's page shows; a part joins by a line here."""
        overview = Overview(self.outbox, self.parts)
        return [
            PanelSource("Sales", self.checkout.sales.panel),
            PanelSource("Payments and access", self.checkout.reconciliation.panel),
            PanelSource("Approvals", self.approvals.panel),
            PanelSource("Secrets", self.guard.panel),
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
        public = public_app([checkout.router(), live.router()], checkout.direct(), self.findings, metrics, site)
        page = OwnerPage(self.gate, self.clock, self.panels(), mode=self.mode, within=self.references.within)
        private = private_app(public, self.findings, metrics, self.health.undelivered, page, self.guard.held)
        count = metrics.counter_of(LiveDomain.PATH)
        return FastReads(public, LiveDomain.PATH, self.live.fast(), count), private
