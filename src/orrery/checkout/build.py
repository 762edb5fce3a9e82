"""The checkout as one piece: its services over the ports that it is given, its routes and its jobs."""

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from orrery.approvals.approvals import Approvals
from orrery.checkout.access.browsers import Browsers
from orrery.checkout.access.buyers_in_need import BuyersInNeed
from orrery.checkout.access.desk import Desk
from orrery.checkout.access.emails import Emails
from orrery.checkout.access.events import Events
from orrery.checkout.access.fulfilment import Fulfilment, WebhookReceiver
from orrery.checkout.access.imports import Imports
from orrery.checkout.access.lookup import Lookup, SessionStates
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.numbering import EVERY as NUMBERED_EVERY
from orrery.checkout.access.numbering import Numbering
from orrery.checkout.access.outages import PART as UNKNOWN_SALES
from orrery.checkout.access.outages import UnknownSalesWatch
from orrery.checkout.access.privacy import BuyerData
from orrery.checkout.access.reconcile import EVERY, Reconciliation
from orrery.checkout.access.refunds import Refunds
from orrery.checkout.access.rekeying import rekey_imports
from orrery.checkout.access.report import DISPUTE, PART
from orrery.checkout.access.sales_panel import SalesPanel
from orrery.checkout.button.orders import Orders
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.going_live import TITLE, GoingLive
from orrery.checkout.health import CheckoutHealth
from orrery.checkout.probe import WebhookProbe
from orrery.checkout.selling.drift import EVERY as DRIFT_EVERY
from orrery.checkout.selling.drift import Drift
from orrery.checkout.selling.health import CreationHealth, ProxyHealth
from orrery.checkout.selling.preflight import Preflight
from orrery.checkout.selling.price_list import PriceList
from orrery.checkout.selling.products import Selling
from orrery.checkout.selling.service import Checkout
from orrery.checkout.selling.sessions import Expiry
from orrery.checkout.selling.trials import Trials
from orrery.checkout.selling.verification import Verification
from orrery.checkout.settings import CheckoutPlan, CheckoutSettings, SitesSettings
from orrery.checkout.site.admission import Admission
from orrery.checkout.site.check import SiteCheck
from orrery.checkout.site.cookie import BrowserCookies
from orrery.checkout.site.forms import Forms
from orrery.checkout.site.gate import AccessGate
from orrery.checkout.site.opening import Opening
from orrery.checkout.site.practice import practice_pages
from orrery.checkout.site.watch import EVERY as SITES_EVERY
from orrery.checkout.site.watch import SiteWatch
from orrery.edge.auth import ServiceBearer
from orrery.edge.client_address import ClientAddresses
from orrery.edge.rate_limit import Limit, RateLimit, SharedLimit
from orrery.errors import OrreryError, RecordUnreadable
from orrery.ports.panels import PanelSource
from orrery.ports.processor import EventReader, Processor, ProcessorReads, ProcessorWrites
from orrery.ports.seller import Seller
from orrery.ports.sessions import SessionFinder
from orrery.ports.web_sites import WebSites
from orrery.runtime.collection import Collection, write
from orrery.runtime.jobs import Job
from orrery.runtime.module import load
from orrery.runtime.nodes import Nodes
from orrery.runtime.parts import Figure, Parts, RestoreReport
from orrery.runtime.runtime import Runtime
from orrery.runtime.secret_probe import SecretProbe
from orrery.runtime.settings import ServerSettings
from orrery.runtime.shared_times import LetThrough, SharedTimes
from orrery.runtime.tasks import Tasks

if TYPE_CHECKING:
    from orrery.checkout.button.routes import Button
    from orrery.checkout.routes import CheckoutRoutes
    from orrery.checkout.site.routes import PageRoutes, Pages, SiteRoutes
    from orrery.edge.routes import Routes

EMAILS = Limit(5, 600), Limit(10, 86400)
"""How often a link may be asked for by one client: in ten minutes, and in a day."""


class CheckoutDomain:
    """Every service of the checkout, wired."""

    def __init__(  # noqa: PLR0913, PLR0917  the wiring of a domain names each of its ports
        self,
        stored: CheckoutRecords,
        processor: Processor,
        reads: ProcessorReads,
        writes: ProcessorWrites,
        approvals: Approvals,
        read_event: EventReader,
        plan: CheckoutPlan,
        tasks: Tasks,
        web: WebSites,
    ) -> None:
        clock, settings, live = stored.clock, plan.settings, plan.livemode
        self.stored, self.plan, self.tasks, self._web, self._reads = stored, plan, tasks, web, reads
        self.catalogue = catalogue = settings.catalogue(plan.sites)
        emails = Emails(catalogue, settings.details(), stored.references)
        self.emails, texts = emails, Notifications(emails)
        self.selling = Selling(
            stored,
            catalogue,
            settings.terms(plan.sites),
            api_version=settings.api_version,
            livemode=live,
            deployment=approvals.deployment,
        )
        self.lookup, self.browsers = Lookup(stored, catalogue, reads), Browsers(stored)
        self.desk = Desk(stored, self.lookup, self.browsers, emails, livemode=live)
        self.buyer_data = BuyerData(stored, self.lookup, self.browsers)
        self.events = Events(stored, reads, read_event)
        self.fulfilment = Fulfilment(stored, texts, self.events, livemode=live)
        self.expiry = Expiry(stored, processor, writes, approvals)
        self.trials = Trials(stored, processor, approvals, self.expiry)
        self.preflight = Preflight(clock, reads, approvals, self.selling, self.trials)
        self.drift = Drift(stored, reads, self.selling)
        self.verification = Verification(stored, processor, reads, self.selling, self.expiry)
        self.session_states = SessionStates(stored, processor, texts)
        revoke = self.desk.revocation if settings.revoke_on_refund else None
        self.refunds = Refunds(stored, reads, self.lookup, texts, revoke)
        self.unknown_sales = UnknownSalesWatch(stored, self.lookup)
        self.reconciliation = Reconciliation(
            stored, processor, self.fulfilment, self.session_states, self.refunds, catalogue, self.unknown_sales
        )
        self.webhook = WebhookReceiver(
            stored, reads, self.fulfilment, self.events, plan.signing_secrets, livemode=live
        )
        self.creation_health, self.proxies = CreationHealth(stored), ProxyHealth(stored, plan.trusted_proxies)
        self.health = CheckoutHealth(plan, catalogue, processor, self.events.finding)
        self.in_need, self.sales = BuyersInNeed(stored, reads), SalesPanel(stored, reads, live, plan.zone)
        self.going_live = GoingLive(stored, self.selling, self.health.local)
        self.checkout = Checkout(stored, processor, self.selling, self.creation_health, self.session_states, tasks)

    @cached_property
    def imports(self) -> Imports:
        """What brings access along from elsewhere."""
        return Imports(self.stored, self.lookup, self.desk, self.emails)

    @cached_property
    def admission(self) -> Admission:
        """What lets browsers in."""
        return Admission(self.lookup, self.browsers, BrowserCookies.of_store(self.stored.index_key))

    @cached_property
    def gate(self) -> AccessGate:
        """The access gate: one a process, for what it remembers."""
        return AccessGate(self.stored, self.catalogue, self.admission, self.tasks)

    @cached_property
    def numbering(self) -> Numbering:
        """What numbers the sales of those sellers who have a series."""
        sellers = [self.emails.seller, *(one.site for one in self.catalogue.listed if one.site)]
        series = {one.number_series: one.time_zone for one in sellers if one.number_series}
        return Numbering(self.stored, self.emails, series)

    @cached_property
    def site_check(self) -> SiteCheck:
        """The proof that the web servers of the sites ask the access gate."""
        return SiteCheck(self._web, self.stored.clock, self.admission.cookies)

    @cached_property
    def site_watch(self) -> SiteWatch:
        """The same each day, for the sites of `[[sites]]` that have practice pages."""
        origins = {one.origin for one in self.plan.sites}
        pages = [one for one in practice_pages(self.catalogue) if one.origin and one.site.origin in origins]
        return SiteWatch(self.stored.checked_sites, self.site_check, pages)

    def routes(self) -> "Routes":
        """What is asked over HTTP."""
        plan, clock, settings = self.plan, self.stored.clock, self.plan.settings
        limits = Limit(settings.sessions_per_minute, 60), Limit(settings.sessions_per_hour, 3600)
        make: type[CheckoutRoutes] = load("orrery.checkout.routes:CheckoutRoutes")
        site: type[SiteRoutes] = load("orrery.checkout.site.routes:SiteRoutes")
        own = make(
            checkout=self.checkout,
            button=(button := self._button()),
            prices=PriceList(clock, self.selling, self._reads),
            webhook=self.webhook,
            lookup=self.lookup,
            session_states=self.session_states,
            addresses=ClientAddresses(plan.trusted_proxies),
            proxies=self.proxies,
            limit=self._shared_limit(self.stored.started, *limits),
            read_limit=self._read_limit(),
            bearer=ServiceBearer(plan.service_tokens, clock),
        ).all()
        return own + site(self.gate).all() + self.pages().all() + button.all()

    def _read_limit(self) -> RateLimit:
        return self._limit(Limit(self.plan.settings.access_reads_per_minute, 60))

    def _limit(self, *limits: Limit) -> RateLimit:
        return RateLimit(self.stored.clock, *limits, wider=self.plan.settings.ipv6_site_factor)

    def _shared_limit(self, times: Collection[LetThrough], *limits: Limit) -> SharedLimit:
        most = max(one.count for one in limits) * self.plan.settings.ipv6_site_factor
        return SharedLimit(self._limit(*limits), SharedTimes(times, self.stored.index_key, most))

    def pages(self) -> "PageRoutes":
        """Return the routes of the hosted pages."""
        make: type[PageRoutes] = load("orrery.checkout.site.routes:PageRoutes")
        return make(
            Opening(self.stored, self.session_states, self.admission, self.emails, self.tasks),
            self._shown(),
            ClientAddresses(self.plan.trusted_proxies),
            limit=self._read_limit(),
            emails=self._shared_limit(self.stored.links_asked, *EMAILS),
        )

    def _button(self) -> "Button":
        make: type[Button] = load("orrery.checkout.button.routes:Button")
        orders = Orders.of_store(self.stored.index_key, self.stored.clock)
        addresses = ClientAddresses(self.plan.trusted_proxies)
        return make(self.checkout, orders, self._shown(), addresses, self._read_limit())

    def _shown(self) -> "Pages":
        make = load("orrery.checkout.site.routes:Pages")
        origins = {one.origin for one in (self.catalogue.default, *self.plan.sites)}
        forms = Forms.of_store(self.stored.index_key, self.stored.clock, origins)
        return make(forms, self.catalogue)

    def parts(self) -> Parts:
        """Return what the checkout brings."""
        refused = "Webhooks that were refused, by reason."
        probe = WebhookProbe(self.stored.clock, self.plan.signing_secrets)
        return Parts(
            module="checkout",
            routes=self.routes,
            jobs=self._jobs(),
            checks=[
                self.health.local,
                *([self.creation_health.local, self.proxies.local] if self.catalogue else []),
                self.preflight.unusable,
                self.preflight.local,
                *(
                    [self.unknown_sales.local, self.reconciliation.findings, self.drift.findings]
                    if self.sells
                    else []
                ),
                self.webhook.refusals.local,
                self.in_need.findings,
                self.numbering.local,
                self.site_watch.local,
            ],
            remote_checks=[*self.health.remote(), *self.site_watch.remote()],
            panels=[
                PanelSource(TITLE, self.going_live.panel, 5, leads=True),
                PanelSource("Sales", self.sales.panel, 10, leads=True),
                PanelSource("Payments and access", self.reconciliation.panel, 20, (PART, DISPUTE, UNKNOWN_SALES)),
                PanelSource("Receipts", self.preflight.panel, 50, ("checkout ", "preflight")),
                PanelSource("What visitors get", self.drift.panel, 60, ("what visitors get",)),
            ],
            operations=self.expiry.operations(),
            figures=[Figure("orrery_webhook_refused", refused, "reason", self.webhook.refusals.counts)],
            personal_data=self.buyer_data.sources(),
            secret_probes=[SecretProbe("webhook_signing_secret", probe.remarks)],
            unreadable=[one.unreadable for one in self.stored.kept()],
            migrations=[self._rekey_imports],
            at_start=[self.reconciliation.look_at_start] if self.sells else [],
            after_restore=[self._reconcile_after_restore],
            take_over=[self.numbering.take_over],
            offers={CheckoutDomain: self, Seller: self, SessionFinder: self.lookup},
        )

    def _jobs(self) -> list[Job]:
        selling = [
            Job("reconcile", EVERY, self.reconciliation.run_unattended),
            Job("look for drift", DRIFT_EVERY, self.drift.check_newest),
        ]
        return [
            Job("erase old addresses", timedelta(hours=1), self.buyer_data.erase_old_addresses),
            # Each process knows only what it saw itself.
            Job(ProxyHealth.JOB, timedelta(minutes=1), self.proxies.write, everywhere=True),
            *(selling if self.sells else ()),
            *([Job("number sales", NUMBERED_EVERY, self.numbering.run)] if self.numbering.series else ()),
            *([Job("check sites", SITES_EVERY, self.site_watch.check_due)] if self.site_watch.origins else ()),
        ]

    @property
    def sells(self) -> bool:
        """Whether something is sold, and the processor can be asked."""
        return bool(self.catalogue) and self.plan.has_api_key

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address that asked for the session of a payment, or None when it is not known."""
        return await self.lookup.address_of(payment_intent)

    async def _rekey_imports(self) -> int:  # a `partial` would show the key when it is printed
        return await rekey_imports(self.stored)

    async def _reconcile_after_restore(self) -> RestoreReport:
        await write(self.stored.store, self.stored.taken_back().writes)
        try:
            report = await self.reconciliation.run()
        except OrreryError as error:
            return RestoreReport([f"Not reconciled: {error} Run `orrery checkout reconcile` when that is fixed."])
        granted = f"{len(report.granted)} granted, {report.held_notifications} of them held back"
        return RestoreReport([f"Reconciled: {granted}."], [RecordUnreadable(name) for name in report.unreadable])


def build(runtime: Runtime) -> Parts:
    """Return the checkout over its ports."""
    stored = CheckoutRecords(runtime.store, runtime.clock, runtime.index_key)
    stored.store_time = runtime.need(Nodes).now
    checkout = CheckoutDomain(
        stored,
        runtime.port(Processor),
        runtime.port(ProcessorReads),
        runtime.port(ProcessorWrites),
        runtime.need(Approvals),
        runtime.port(EventReader),
        plan(runtime),
        runtime.tasks,
        runtime.port(WebSites),
    )
    return checkout.parts()


def plan(runtime: Runtime) -> CheckoutPlan:
    """Return the plan of the checkout."""
    return CheckoutPlan(
        runtime.section(CheckoutSettings),
        runtime.mode == "live",
        runtime.secret("processor_api_key") is not None,
        runtime.secret_values("webhook_signing_secret"),
        runtime.secret_values("access_service_token"),
        runtime.section(ServerSettings).trusted_proxies,
        runtime.section(SitesSettings).sites(),
        runtime.section(ServerSettings).address,
    )
