"""The composition root: settings choose adapters, adapters make services, services make routes."""

import secrets as random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from starlette.types import ASGIApp

from orrery import settings as configured
from orrery.adapters.clock import SystemClock
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.sqlite import SqliteStore
from orrery.adapters.stripe.client import StripeProcessor
from orrery.adapters.stripe.objects import read_event
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.desk import Desk
from orrery.checkout.fulfilment import Fulfilment
from orrery.checkout.health import CheckoutHealth
from orrery.checkout.letters import Letters
from orrery.checkout.lookup import Lookup
from orrery.checkout.privacy import Privacy
from orrery.checkout.reconcile import EVERY, Reconciliation
from orrery.checkout.routes import CheckoutRoutes
from orrery.checkout.service import Checkout
from orrery.checkout.webhook import Webhook
from orrery.edge.client_address import ClientAddresses
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.ratelimit import Limit, RateLimit
from orrery.owner.health import Health
from orrery.owner.outbox import Channel, Outbox
from orrery.owner.watch import Watch
from orrery.owner.workers import Job, Workers
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.notifier import Notifier
from orrery.ports.store import Absent, Put, Store


@dataclass(frozen=True)
class Orrery:
    """Every service of one deployment, over one open store; each is made when first asked for."""

    settings: configured.Settings
    secrets: configured.Secrets
    clock: Clock
    store: Store
    index_key: bytes

    @cached_property
    def catalogue(self) -> Catalogue:
        """The products on sale."""
        return self.settings.checkout.catalogue()

    @cached_property
    def processor(self) -> StripeProcessor:
        """The payment processor."""
        checkout = self.settings.checkout
        key = self.secrets.reveal("processor_api_key")
        return StripeProcessor(key, base_url=checkout.processor_url, api_version=checkout.api_version)

    @cached_property
    def letters(self) -> Letters:
        """What owner and buyers are told."""
        return Letters(self.settings.checkout.seller, self.settings.checkout.practice_url, self.catalogue)

    @cached_property
    def fulfilment(self) -> Fulfilment:
        """Completed sessions become access."""
        live = self.settings.mode == "live"
        return Fulfilment(self.store, self.clock, self.letters, livemode=live, index_key=self.index_key)

    @cached_property
    def checkout(self) -> Checkout:
        """The checkout operation."""
        return Checkout(self.store, self.clock, self.processor, self.catalogue, self.settings.checkout.terms())

    @cached_property
    def webhook(self) -> Webhook:
        """The processor's events."""
        lines = (self.secrets.reveal("webhook_signing_secret") or "").split()
        return Webhook(self.clock, self.fulfilment, read_event, [line.encode() for line in lines])

    @cached_property
    def lookup(self) -> Lookup:
        """Who asks whether access is open."""
        return Lookup(self.store, self.clock, index_key=self.index_key)

    @cached_property
    def desk(self) -> Desk:
        """The owner's changes."""
        return Desk(self.store, self.clock, self.lookup, self.letters, index_key=self.index_key)

    @cached_property
    def privacy(self) -> Privacy:
        """Export and erasure."""
        return Privacy(self.store, self.clock, self.lookup, index_key=self.index_key)

    @cached_property
    def reconciliation(self) -> Reconciliation:
        """What the webhook missed."""
        return Reconciliation(self.store, self.clock, self.processor, self.fulfilment, self.catalogue)

    @cached_property
    def notifiers(self) -> dict[Channel, Notifier]:
        """The configured ways to tell somebody something."""
        return notifiers(self.settings, self.secrets, self.clock)

    @cached_property
    def outbox(self) -> Outbox:
        """Notifications under way."""
        return Outbox(self.store, self.clock, self.notifiers)

    @cached_property
    def health(self) -> Health:
        """What is well and what is not."""
        return Health(self.store, self.outbox, self.workers.failing, self.notifiers)

    @cached_property
    def checkout_health(self) -> CheckoutHealth:
        """How the checkout is."""
        has = {name: self.secrets.reveal(name) is not None for name in configured.Secrets.model_fields}
        return CheckoutHealth(
            catalogue=self.catalogue,
            processor=self.processor,
            api_version=self.settings.checkout.api_version,
            has_addresses=self.settings.checkout.terms() is not None,
            has_api_key=has["processor_api_key"],
            has_signing_secret=has["webhook_signing_secret"],
            has_service_token=has["access_service_token"],
        )

    @cached_property
    def workers(self) -> Workers:
        """The jobs that repeat."""
        return Workers(self.store, self.clock, random.token_hex(8), self._jobs())

    async def findings(self) -> Sequence[Finding]:
        """Return how every part is, without asking anybody outside."""
        return [*await self.health.local(), *self.checkout_health.local()]

    def apps(self, site: ASGIApp | None = None) -> tuple[ASGIApp, ASGIApp]:
        """Return the public and the private app."""
        metrics = Metrics()
        token = self.secrets.reveal("access_service_token")
        routes = CheckoutRoutes(
            checkout=self.checkout,
            webhook=self.webhook,
            lookup=self.lookup,
            addresses=ClientAddresses(self.settings.server.trusted_proxies),
            limit=rate_limit(self.settings.checkout, self.clock),
            service_token=token.encode() if token else None,
        )
        public = public_app([routes.router()], self.findings, metrics, site)
        return public, private_app(public, self.findings, metrics, self.health.undelivered)

    def _jobs(self) -> list[Job]:
        jobs = [
            Job("deliver notifications", timedelta(seconds=1), self.outbox.deliver_due),
            Job("erase old addresses", timedelta(hours=1), self.privacy.erase_old_addresses),
            Job("watch", timedelta(minutes=5), Watch(self.store, self.clock, self.findings).tell),
        ]
        if list(self.catalogue) and self.secrets.reveal("processor_api_key"):
            jobs.append(Job("reconcile", EVERY, self.reconciliation.run))
        if self.settings.heartbeat.url:
            jobs.append(Job("heartbeat", timedelta(minutes=1), self._beat))
        return jobs

    async def _beat(self) -> None:
        from orrery.adapters.heartbeat import HttpHeartbeat  # noqa: PLC0415  imported when first needed

        if not self.workers.failing.keys() - {"heartbeat"}:
            await HttpHeartbeat(self.settings.heartbeat.url or "").beat()


@asynccontextmanager
async def opened(settings: configured.Settings, secrets: configured.Secrets) -> AsyncGenerator[Orrery]:
    """Open the store and compose everything over it; raise `StoreUnavailable`."""
    clock = clock_of(settings)
    store = await SqliteStore.open(settings.store.path, clock)
    try:
        yield Orrery(settings, secrets, clock, store, await index_key(store))
    finally:
        await store.close()


def clock_of(settings: configured.Settings) -> Clock:
    """Return the machine's clock, or in sandbox mode the one shared with the sandbox."""
    shared = settings.sandbox.clock_file if settings.mode == "sandbox" else None
    return MovableClock(shared) if shared else SystemClock()


def rate_limit(checkout: configured.CheckoutSettings, clock: Clock) -> RateLimit:
    """Return the limit of the checkout operation (decision 14)."""
    return RateLimit(clock, Limit(checkout.sessions_per_minute, 60), Limit(checkout.sessions_per_hour, 3600))


def notifiers(settings: configured.Settings, secrets: configured.Secrets, clock: Clock) -> dict[Channel, Notifier]:
    """Return the configured notifiers; what is not configured is missing here, and its messages wait."""
    found: dict[Channel, Notifier] = {}
    push, mail = settings.push, settings.mail
    if push.url and push.topic:
        from orrery.adapters.ntfy import NtfyNotifier  # noqa: PLC0415  imported when first needed

        found["push"] = NtfyNotifier(push.url, push.topic, secrets.reveal("push_token"))
    if mail.host and mail.sender:
        from orrery.adapters.smtp import Relay, SmtpNotifier  # noqa: PLC0415  imported when first needed

        password = secrets.reveal("mail_password")
        relay = Relay(mail.host, mail.port, mail.sender, mail.security, mail.username, password)
        found["email"] = SmtpNotifier(relay, clock)
    return found


async def index_key(store: Store) -> bytes:
    """Return the store's own key for digests of e-mail addresses, made when the store is new (decision 10)."""
    key = "index-key"
    while (entry := await store.get(key)) is None:
        await store.commit([Put(key, random.token_bytes(32))], [Absent(key)])
    return entry.value
