"""The composition root: settings choose adapters, adapters make domains, domains make HTTP apps and jobs."""

import asyncio
import platform
import secrets as random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from starlette.types import ASGIApp

from orrery.adapters.clock import SystemClock
from orrery.adapters.ga4 import GoogleAnalytics
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.public_counter import HttpCounter
from orrery.adapters.sqlite import SqliteStore
from orrery.adapters.ssh_keygen import SshKeygen
from orrery.adapters.stripe.connection import Connection
from orrery.adapters.stripe.objects import read_event
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.adapters.stripe.writes import StripeWrites
from orrery.checkout.domain import CheckoutDomain
from orrery.checkout.lookup import index_key
from orrery.edge.auth import AdminBasic
from orrery.edge.fast import FastReads
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.owner_page import OwnerPage, PanelSource
from orrery.fraud.domain import FraudDomain
from orrery.live.domain import LiveDomain
from orrery.owner.approvals import Approvals
from orrery.owner.baseline import EVERY
from orrery.owner.fingerprints import Fingerprints, Sight
from orrery.owner.guard import Holding, SecretsGuard
from orrery.owner.health import Health
from orrery.owner.heart import Heart
from orrery.owner.intents import NAMESPACE
from orrery.owner.outbox import Channel, Outbox
from orrery.owner.overview import Overview
from orrery.owner.watch import Watch
from orrery.owner.workers import Job, Workers
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.heartbeat import Heartbeat
from orrery.ports.notifier import Notifier
from orrery.ports.processor import ProcessorReads
from orrery.ports.store import Store
from orrery.ports.tracker import Tracker
from orrery.settings import Secrets, Settings, held_in, look_again, uses_of


@dataclass(frozen=True, slots=True)
class Orrery:
    """One deployment, composed over its open store."""

    clock: Clock
    store: Store
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
        return [*await self.domains(), *await self.guard.findings()]

    async def domains(self) -> Sequence[Finding]:
        """Return the same without the secrets, of which their guard tells the owner by itself."""
        return [*await self.parts(), *await self.checkout.receipts.local()]

    async def parts(self) -> Sequence[Finding]:
        """Return the same without the receipts, which have a panel of their own on the owner's page."""
        return [*await self.health.local(), *self.checkout.health.local(), *self.live.health.local()]

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
        checkout, live = self.checkout.routes, self.live.routes
        public = public_app([checkout.router(), live.router()], checkout.direct(), self.findings, metrics, site)
        page = OwnerPage(self.gate, self.clock, self.panels(), mode=self.mode)
        private = private_app(public, self.findings, metrics, self.health.undelivered, page, self.guard.held)
        count = metrics.counter_of(LiveDomain.PATH)
        return FastReads(public, LiveDomain.PATH, self.live.fast(), count), private


@asynccontextmanager
async def opened(settings: Settings, secrets: Secrets) -> AsyncGenerator[Orrery]:
    """Open the store and compose everything over it; raise `StoreUnavailable`."""
    clock = clock_of(settings)
    store = await SqliteStore.open(settings.store.path, clock)
    try:
        yield _composed(settings, secrets, clock, store, await index_key(store))
    finally:
        await store.close()


def clock_of(settings: Settings) -> Clock:
    """Return the machine's clock, or in sandbox mode the one shared with the sandbox."""
    shared = settings.sandbox.clock_file if settings.mode == "sandbox" else None
    return MovableClock(shared) if shared else SystemClock()


def _composed(settings: Settings, secrets: Secrets, clock: Clock, store: Store, key: bytes) -> Orrery:
    connection = Connection(
        secrets.reveal("processor_api_key"),
        base_url=settings.checkout.processor_url,
        api_version=settings.checkout.api_version,
    )
    reads, writes = StripeReads(connection), StripeWrites(connection)
    approvals = _approvals(settings, secrets, clock, store, key)
    checkout = CheckoutDomain(
        store,
        clock,
        StripeProcessor(connection),
        reads,
        writes,
        approvals,
        read_event,
        settings.checkout_plan(secrets),
        index_key=key,
    )
    plan = settings.fraud_plan(secrets)
    fraud = FraudDomain(store, clock, reads, writes, approvals, checkout.address_of, plan)
    approvals.allow(*checkout.operations(), *fraud.operations())
    holder = random.token_hex(8)
    live = _live(settings, secrets, clock, store, holder)
    notifiers = _notifiers(settings, secrets, clock)
    outbox = Outbox(store, clock, notifiers)
    workers = Workers(store, clock, holder)
    health = Health(store, outbox, workers.failing, notifiers)
    gate = AdminBasic(secrets.reveal("admin_password_hash"), clock)
    guard = _guard(settings, secrets, clock, store, key)
    orrery = Orrery(
        clock, store, outbox, approvals, checkout, live, fraud, reads, workers, health, guard, gate, settings.mode
    )
    _add_jobs(orrery, settings)
    return orrery


def _add_jobs(orrery: Orrery, settings: Settings) -> None:
    workers, outbox = orrery.workers, orrery.outbox
    workers.add(Job(Health.JOB, timedelta(seconds=10), orrery.health.write))
    workers.add(Job("deliver notifications", timedelta(seconds=1), outbox.deliver_due))
    workers.add(Job("watch", timedelta(minutes=5), Watch(orrery.store, orrery.clock, orrery.domains).tell))
    # Each process looks: one whose variables were wiped may start beside one that has them.
    workers.add(Job(SecretsGuard.JOB, EVERY, orrery.guard.look, everywhere=True))
    workers.add(*orrery.checkout.jobs(), *orrery.live.jobs(), *orrery.fraud.jobs())
    if settings.heartbeat.url:
        heart = Heart(_heartbeat(settings.heartbeat.url), workers.failing, outbox.stuck)
        workers.add(Job(Heart.JOB, timedelta(minutes=1), heart.beat))


def _guard(settings: Settings, secrets: Secrets, clock: Clock, store: Store, key: bytes) -> SecretsGuard:
    fingerprints = Fingerprints.of_store(key)

    async def sight() -> Sight:
        return await asyncio.to_thread(look_again, settings, fingerprints)

    observer = f"{platform.node()}:{settings.server.private_port}"
    holding = Holding(held_in(secrets, fingerprints), fingerprints.keyed_by, observer, uses_of(settings))
    return SecretsGuard(store, clock, holding, sight)


def _approvals(settings: Settings, secrets: Secrets, clock: Clock, store: Store, key: bytes) -> Approvals:
    return Approvals(
        store,
        clock,
        SshKeygen(settings.approvals.owner_keys, NAMESPACE),
        deployment=settings.deployment(key),
        forbidden=secrets.values(),
    )


def _live(settings: Settings, secrets: Secrets, clock: Clock, store: Store, holder: str) -> LiveDomain:
    return LiveDomain(
        store,
        clock,
        _analytics(settings, secrets, clock),
        HttpCounter(settings.monitor_url),
        _tracker(settings, secrets, clock),
        settings.live_plan(secrets),
        holder=holder,
    )


def _analytics(settings: Settings, secrets: Secrets, clock: Clock) -> Analytics:
    live = settings.live
    return GoogleAnalytics(
        secrets.reveal("analytics_service_account_key"),
        live.property_id,
        base_url=live.provider_url,
        planet_dimension=live.planet_dimension,
        clock=clock,
    )


# These adapters are imported when first needed: a service that does not use them starts sooner and weighs less.


def _notifiers(settings: Settings, secrets: Secrets, clock: Clock) -> dict[Channel, Notifier]:
    found: dict[Channel, Notifier] = {}
    push, mail = settings.push, settings.mail
    if push.url and push.topic:
        from orrery.adapters.ntfy import NtfyNotifier  # noqa: PLC0415  see above

        found["push"] = NtfyNotifier(push.url, push.topic, secrets.reveal("push_token"))
    if mail.host and mail.sender:
        from orrery.adapters.smtp import Relay, SmtpNotifier  # noqa: PLC0415  see above

        password = secrets.reveal("mail_password")
        relay = Relay(mail.host, mail.port, mail.sender, mail.security, mail.username, password)
        found["email"] = SmtpNotifier(relay, clock)
    return found


def _tracker(settings: Settings, secrets: Secrets, clock: Clock) -> Tracker:
    if settings.monitor.tracker == "github":
        from orrery.adapters.github import GitHubTracker  # noqa: PLC0415  see above

        token = secrets.reveal("tracker_token")
        return GitHubTracker(settings.monitor.github_url, settings.monitor.repository, token)
    from orrery.adapters.issue_file import FileTracker  # noqa: PLC0415  see above

    return FileTracker(settings.monitor.file, clock)


def _heartbeat(url: str) -> Heartbeat:
    from orrery.adapters.heartbeat import HttpHeartbeat  # noqa: PLC0415  see above

    return HttpHeartbeat(url)
