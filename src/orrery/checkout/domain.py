"""The checkout as one piece: its services over the ports that it is given, its routes and its jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from orrery.approvals.approvals import Approvals
from orrery.checkout import collections
from orrery.checkout.access.desk import Desk
from orrery.checkout.access.events import EventHistory
from orrery.checkout.access.fulfilment import Fulfilment
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.privacy import BuyerData
from orrery.checkout.access.raw_events import RawEvents
from orrery.checkout.access.reconcile import EVERY, Reconciliation
from orrery.checkout.access.refunds import Refunds
from orrery.checkout.access.refusals import Refusals
from orrery.checkout.access.rekeying import rekey_imports
from orrery.checkout.access.sales import Sales
from orrery.checkout.access.session_states import SessionStates
from orrery.checkout.access.unknown_sales import UnknownSalesWatch
from orrery.checkout.access.webhook import Webhook
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.health import CheckoutHealth
from orrery.checkout.probe import WebhookProbe
from orrery.checkout.routes import CheckoutRoutes
from orrery.checkout.selling import collections as sold
from orrery.checkout.selling.creation_health import CreationHealth
from orrery.checkout.selling.operations import Expiry
from orrery.checkout.selling.params import SessionTerms
from orrery.checkout.selling.preflight import Preflight, ReceiptHealth
from orrery.checkout.selling.products import Selling
from orrery.checkout.selling.proxy_health import EVERY as PROXIES_EVERY
from orrery.checkout.selling.proxy_health import ProxyHealth
from orrery.checkout.selling.service import Checkout
from orrery.checkout.selling.sessions import Offers, Sessions
from orrery.checkout.selling.trials import Trials
from orrery.checkout.selling.verification import EVERY as DRIFT_EVERY
from orrery.checkout.selling.verification import Verification
from orrery.edge.auth import ServiceBearer
from orrery.edge.client_address import ClientAddresses
from orrery.edge.ratelimit import Limit, RateLimit
from orrery.errors import OrreryError, RecordUnreadable
from orrery.ports.clock import Clock
from orrery.ports.panels import PanelSource
from orrery.ports.processor import EventReader, Processor, ProcessorReads, ProcessorWrites
from orrery.ports.seller import Seller
from orrery.ports.sessions import SessionFinder
from orrery.ports.store import Store
from orrery.runtime.collection import Collection
from orrery.runtime.jobs import Job
from orrery.runtime.parts import Figure, Parts, RestoreReport
from orrery.runtime.references import References
from orrery.runtime.secret_probe import SecretProbe
from orrery.runtime.tasks import Tasks

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class CheckoutPlan:
    """The settings of a deployment's checkout. A missing secret is empty here (decision 41)."""

    catalogue: Catalogue
    terms: SessionTerms | None
    notifications: Notifications
    livemode: bool
    api_version: str
    has_api_key: bool
    signing_secrets: Sequence[bytes] = field(repr=False)
    service_tokens: Sequence[bytes] = field(repr=False)
    limits: tuple[Limit, ...]
    read_limit: Limit
    ipv6_site_factor: int
    trusted_proxies: Sequence[str]
    revoke_on_refund: bool


class CheckoutDomain:
    """Every service of the checkout, wired."""

    def __init__(  # noqa: PLR0913, PLR0917  the wiring of a domain names each of its ports
        self,
        store: Store,
        clock: Clock,
        processor: Processor,
        reads: ProcessorReads,
        writes: ProcessorWrites,
        approvals: Approvals,
        read_event: EventReader,
        plan: CheckoutPlan,
        tasks: Tasks,
        *,
        index_key: bytes,
    ) -> None:
        self._store, self._clock, self._index_key = store, clock, index_key
        self._plan = plan
        self._offers = Offers(store, clock, reads)
        self.catalogue = plan.catalogue
        self.selling = _selling(store, clock, plan, approvals.deployment)
        self.lookup = Lookup(store, clock, plan.catalogue, index_key=index_key)
        self.sessions = Sessions(store, clock, References.of_store(index_key))
        self.desk = Desk(
            store, clock, self.lookup, plan.notifications, livemode=plan.livemode, index_key=index_key
        )
        self._buyer_data = BuyerData(store, clock, self.lookup, index_key=index_key)
        raw_events = RawEvents(store, clock, read_event)
        fulfilment = Fulfilment(
            store, clock, plan.notifications, raw_events, livemode=plan.livemode, index_key=index_key
        )
        self._expiry = Expiry(store, clock, processor, writes, approvals)
        trials = Trials(store, clock, processor, approvals, self._expiry)
        self.preflight = Preflight(clock, reads, approvals, self.selling, trials)
        self.verification = Verification(store, clock, processor, reads, self.selling, self._expiry)
        self.receipts = ReceiptHealth(self.selling, trials)
        self.sales = Sales(clock, self.lookup)
        states = SessionStates(store, clock, processor, self.lookup, plan.notifications)
        refunds, unknown = self._refunds(store, clock, reads), self._unknown_sales(store, clock)
        self.reconciliation = Reconciliation(
            store, clock, processor, fulfilment, states, refunds, plan.catalogue, unknown
        )
        self.refusals = Refusals(store, clock, plan.signing_secrets)
        webhook = Webhook(clock, fulfilment, raw_events, self.refusals, plan.signing_secrets)
        self.events = EventHistory(
            clock, reads, fulfilment, raw_events, self.refusals, webhook.receive_verified, livemode=plan.livemode
        )
        self._webhook_probe = WebhookProbe(clock, plan.signing_secrets)
        creation, self._proxies = CreationHealth(store, clock), ProxyHealth(store, clock, plan.trusted_proxies)
        self.health = self._health(processor, creation)
        checkout = Checkout(store, clock, processor, self.selling, creation, states, tasks)
        self.routes = self._routes(clock, checkout, webhook, states)

    def _unknown_sales(self, store: Store, clock: Clock) -> UnknownSalesWatch:
        access = collections.access_records(store, clock, self._index_key)
        known = [collections.offers(store, clock), access, sold.own_sessions(store, clock)]
        return UnknownSalesWatch(store, clock, self.lookup, known)

    def _routes(self, clock: Clock, checkout: Checkout, webhook: Webhook, states: SessionStates) -> CheckoutRoutes:
        plan = self._plan
        return CheckoutRoutes(
            checkout=checkout,
            webhook=webhook,
            lookup=self.lookup,
            session_states=states,
            addresses=ClientAddresses(plan.trusted_proxies),
            proxies=self._proxies,
            limit=RateLimit(clock, *plan.limits, wider=plan.ipv6_site_factor),
            read_limit=RateLimit(clock, plan.read_limit, wider=plan.ipv6_site_factor),
            bearer=ServiceBearer(plan.service_tokens, clock),
        )

    def _refunds(self, store: Store, clock: Clock, reads: ProcessorReads) -> Refunds:
        revoke = self.desk.revocation if self._plan.revoke_on_refund else None
        return Refunds(store, clock, reads, self.lookup, self._plan.notifications, revoke)

    def _health(self, processor: Processor, creation: CreationHealth) -> CheckoutHealth:
        plan = self._plan
        return CheckoutHealth(
            catalogue=plan.catalogue,
            processor=processor,
            deliveries=self.events.finding,
            creation=creation.local,
            proxies=self._proxies.local,
            api_version=plan.api_version,
            has_api_key=plan.has_api_key,
            has_signing_secret=bool(plan.signing_secrets),
            has_service_token=bool(plan.service_tokens),
        )

    def parts(self) -> Parts:
        """Return what the checkout brings."""
        refused = "Webhooks that were refused, by reason."
        return Parts(
            module="checkout",
            routers=[self.routes.router()],
            direct=self.routes.direct(),
            jobs=self._jobs(),
            checks=[
                self.health.local,
                self.receipts.unusable,
                *([self.reconciliation.unknown.local] if self.sells else []),
            ],
            own_checks=[self.receipts.local],
            remote_checks=self.health.remote(),
            panels=[
                PanelSource("Sales", self.sales.panel, 10),
                PanelSource("Payments and access", self.reconciliation.panel, 20),
                PanelSource("Receipts", self.preflight.panel, 50),
                PanelSource("What visitors get", self.verification.panel, 60),
            ],
            operations=self._expiry.operations(),
            figures=[Figure("orrery_webhook_refused", refused, "reason", self.refusals.counts)],
            personal_data=self._buyer_data.sources(),
            secret_probes=[SecretProbe("webhook_signing_secret", self._webhook_probe.remarks)],
            unreadable=[one.unreadable for one in self._collections()],
            migrations=[self._rekey_imports],
            at_start=[self.reconciliation.look_at_start] if self.sells else [],
            after_restore=[self._reconcile_after_restore],
            offers={CheckoutDomain: self, Seller: self, SessionFinder: self.sessions},
        )

    def _collections(self) -> list[Collection[Any]]:
        of_access = collections.kept(self._store, self._clock, self._index_key)
        return [*of_access, *sold.kept(self._store, self._clock)]

    @property
    def sells(self) -> bool:
        """Whether something is sold, and the processor can be asked."""
        return bool(self.catalogue) and self._plan.has_api_key

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address that asked for the session of a payment, or None when it is not known."""
        return await self._offers.address_of(payment_intent)

    def _jobs(self) -> list[Job]:
        jobs = [
            Job("erase old addresses", timedelta(hours=1), self._buyer_data.erase_old_addresses),
            # Each process knows only what it saw itself.
            Job(ProxyHealth.JOB, PROXIES_EVERY, self._proxies.write, everywhere=True),
        ]
        if self.sells:
            jobs.append(Job("reconcile", EVERY, self.reconciliation.run_unattended))
            jobs.append(Job("look for drift", DRIFT_EVERY, self.verification.check_newest))
        return jobs

    async def _rekey_imports(self) -> int:  # a `partial` would show the key when it is printed
        return await rekey_imports(self._store, self._clock, self._index_key)

    async def _reconcile_after_restore(self) -> RestoreReport:
        try:
            report = await self.reconciliation.run()
        except OrreryError as error:
            return RestoreReport([f"Not reconciled: {error} Run `orrery checkout reconcile` when that is fixed."])
        granted = f"{len(report.granted)} granted, {report.held_notifications} of them held back"
        return RestoreReport([f"Reconciled: {granted}."], [RecordUnreadable(name) for name in report.unreadable])


def _selling(store: Store, clock: Clock, plan: CheckoutPlan, deployment: str) -> Selling:
    return Selling(
        store,
        clock,
        plan.catalogue,
        plan.terms,
        api_version=plan.api_version,
        livemode=plan.livemode,
        deployment=deployment,
    )
