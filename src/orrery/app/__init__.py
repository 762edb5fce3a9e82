"""The composition root: settings choose adapters, adapters make domains, domains make HTTP apps and jobs."""

import asyncio
import platform
import secrets as random
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from orrery.adapters.public_counter import HttpCounter
from orrery.adapters.sqlite import SqliteStore
from orrery.adapters.ssh_keygen import SshKeygen
from orrery.adapters.stripe.connection import Connection
from orrery.adapters.stripe.objects import read_event
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.adapters.stripe.writes import StripeWrites
from orrery.adapters.unavailable_store import UnavailableStore
from orrery.app.adapters import (
    analytics_of,
    clock_of,
    heartbeat_of,
    notifiers_of,
    processor_connection,
    snapshots_of,
    tracker_of,
    trust_of,
)
from orrery.app.deployment import Orrery
from orrery.app.findings import Findings
from orrery.app.owner import approvals_parts, backups_parts, notifications_parts, secrets_parts, watch_parts
from orrery.checkout.domain import CheckoutDomain
from orrery.checkout.lookup import index_key
from orrery.edge.auth import AdminBasic
from orrery.errors import StoreError
from orrery.fraud.domain import FraudDomain
from orrery.live.domain import LiveDomain
from orrery.logs import refer_to_sessions
from orrery.module import Parts, refuse_duplicates
from orrery.owner.approvals import Approvals
from orrery.owner.fingerprints import Fingerprints, SecretObservations
from orrery.owner.health import OwnerHealth
from orrery.owner.heartbeat_job import HeartbeatJob
from orrery.owner.intents import NAMESPACE
from orrery.owner.outbox import Channel, Outbox
from orrery.owner.readiness import Readiness
from orrery.owner.references import References, ReferringNotifier
from orrery.owner.secrets_check import HeldSecrets, SecretsCheck
from orrery.owner.tasks import Tasks
from orrery.owner.workers import Workers
from orrery.ports.clock import Clock
from orrery.ports.notifier import Notifier
from orrery.ports.store import Store
from orrery.settings import Secrets, Settings, held_fingerprints, observe_secrets, uses_of
from orrery.trust import Trust

__all__ = ["Orrery", "clock_of", "opened", "opened_for_examination"]


@asynccontextmanager
async def opened(settings: Settings, secrets: Secrets) -> AsyncGenerator[Orrery]:
    """Open the store and compose everything over it; raise `StoreUnavailable`."""
    clock = clock_of(settings)
    store, tasks = await SqliteStore.open(settings.store.path, clock), Tasks()
    try:
        orrery = _composed(_Ground(settings, secrets, clock, store, await index_key(store), tasks))
        for migrate in (one for parts in orrery.modules for one in parts.migrations):
            await migrate()
        yield orrery
    finally:
        await tasks.finish()
        await store.close()


@asynccontextmanager
async def opened_for_examination(settings: Settings, secrets: Secrets) -> AsyncGenerator[Orrery]:
    """Compose as `opened` does; where the store cannot be used, over one whose every call says why."""
    async with AsyncExitStack() as stack:
        try:
            orrery = await stack.enter_async_context(opened(settings, secrets))
        except StoreError as error:
            clock, nobodys_key = clock_of(settings), random.token_bytes(32)
            ground = _Ground(settings, secrets, clock, UnavailableStore(error), nobodys_key, Tasks())
            orrery = _composed(ground)
        yield orrery


@dataclass(frozen=True, slots=True)
class _Ground:
    """What everything is composed over."""

    settings: Settings
    secrets: Secrets
    clock: Clock
    store: Store
    key: bytes
    tasks: Tasks


def _composed(ground: _Ground) -> Orrery:
    settings, secrets, clock, store = ground.settings, ground.secrets, ground.clock, ground.store
    trust, holder = trust_of(settings), random.token_hex(8)
    connection = processor_connection(settings, secrets, trust)
    reads, writes, approvals = StripeReads(connection), StripeWrites(connection), _approvals(ground)
    checkout = _checkout(ground, connection, approvals)
    fraud = FraudDomain(store, clock, reads, writes, approvals, checkout.address_of, settings.fraud_plan(secrets))
    live = _live(ground, trust, holder)
    references = References.of_store(ground.key)
    refer_to_sessions(references.within)
    notifiers = _referring(notifiers_of(settings, secrets, clock, trust), references)
    outbox, workers = Outbox(store, clock, notifiers), Workers(store, clock, holder)
    modules: list[Parts] = []
    health = OwnerHealth(store, outbox, workers.failing, notifiers)
    findings, secrets_check = Findings(health, references, modules), _secrets_check(ground)
    readiness = Readiness(findings.all, clock)
    modules += [
        notifications_parts(outbox, findings),
        watch_parts(store, clock, readiness, _heartbeat(settings, trust, workers, outbox)),
        checkout.parts(),
        fraud.parts(),
        live.parts(),
        approvals_parts(approvals),
        secrets_parts(secrets_check),
        backups_parts(snapshots_of(settings), clock),
    ]
    refuse_duplicates(modules)
    approvals.allow(*(one for parts in modules for one in parts.operations))
    workers.add(*(one for parts in modules for one in parts.jobs))
    return Orrery(
        clock=clock,
        store=store,
        references=references,
        outbox=outbox,
        approvals=approvals,
        checkout=checkout,
        live=live,
        fraud=fraud,
        reads=reads,
        workers=workers,
        modules=modules,
        findings=findings,
        readiness=readiness,
        secrets_check=secrets_check,
        gate=AdminBasic(secrets.reveal("admin_password_hash"), live.wrong_passwords),
        mode=settings.mode,
    )


def _checkout(ground: _Ground, connection: Connection, approvals: Approvals) -> CheckoutDomain:
    return CheckoutDomain(
        ground.store,
        ground.clock,
        StripeProcessor(connection),
        StripeReads(connection),
        StripeWrites(connection),
        approvals,
        read_event,
        ground.settings.checkout_plan(ground.secrets),
        ground.tasks,
        index_key=ground.key,
    )


def _live(ground: _Ground, trust: Trust, holder: str) -> LiveDomain:
    settings, secrets, clock = ground.settings, ground.secrets, ground.clock
    return LiveDomain(
        ground.store,
        clock,
        analytics_of(settings, secrets, clock, trust),
        HttpCounter(settings.monitor_url, trust),
        tracker_of(settings, secrets, clock, trust),
        settings.live_plan(secrets),
        ground.tasks,
        holder=holder,
    )


def _referring(notifiers: Mapping[Channel, Notifier], references: References) -> dict[Channel, Notifier]:
    return {channel: ReferringNotifier(notifier, references) for channel, notifier in notifiers.items()}


def _heartbeat(settings: Settings, trust: Trust, workers: Workers, outbox: Outbox) -> HeartbeatJob | None:
    url = settings.heartbeat.url
    return HeartbeatJob(heartbeat_of(url, trust), workers.failing, outbox.stuck) if url else None


def _secrets_check(ground: _Ground) -> SecretsCheck:
    settings, fingerprints = ground.settings, Fingerprints.of_store(ground.key)

    async def observe() -> SecretObservations:
        return await asyncio.to_thread(observe_secrets, settings, fingerprints)

    observer = f"{platform.node()}:{settings.server.private_port}"
    held = HeldSecrets(
        held_fingerprints(ground.secrets, fingerprints), fingerprints.keyed_by, observer, uses_of(settings)
    )
    return SecretsCheck(ground.store, ground.clock, held, observe)


def _approvals(ground: _Ground) -> Approvals:
    return Approvals(
        ground.store,
        ground.clock,
        SshKeygen(ground.settings.approvals.owner_keys, NAMESPACE),
        deployment=ground.settings.deployment(ground.key),
        forbidden=ground.secrets.values(),
    )
