"""The composition root: settings choose adapters, adapters make domains, domains make HTTP apps and jobs."""

import asyncio
import platform
import secrets as random
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial

from orrery.adapters.public_counter import HttpCounter
from orrery.adapters.sqlite import SqliteStore
from orrery.adapters.ssh_keygen import SshKeygen
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
from orrery.app.parts import Parts
from orrery.checkout.domain import CheckoutDomain
from orrery.checkout.lookup import index_key
from orrery.checkout.rekeying import rekey_imports
from orrery.edge.auth import AdminBasic
from orrery.errors import StoreError
from orrery.fraud.domain import FraudDomain
from orrery.live.domain import LiveDomain
from orrery.logs import refer_to_sessions
from orrery.owner.approvals import Approvals
from orrery.owner.baseline import EVERY
from orrery.owner.fingerprints import Fingerprints, SecretObservations
from orrery.owner.health import OwnerHealth
from orrery.owner.heartbeat_job import HeartbeatJob
from orrery.owner.intents import NAMESPACE
from orrery.owner.outbox import CHANNELS, Channel, Outbox
from orrery.owner.readiness import Readiness
from orrery.owner.references import References, ReferringNotifier
from orrery.owner.secrets_check import HeldSecrets, SecretsCheck
from orrery.owner.tasks import Tasks
from orrery.owner.watch import EVERY as WATCH_EVERY
from orrery.owner.watch import OutageWatch
from orrery.owner.workers import Job, Workers
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
        key = await index_key(store)
        await rekey_imports(store, clock, key)
        yield _composed(settings, secrets, clock, store, key, tasks)
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
            orrery = _composed(settings, secrets, clock, UnavailableStore(error), nobodys_key, Tasks())
        yield orrery


def _composed(
    settings: Settings, secrets: Secrets, clock: Clock, store: Store, key: bytes, tasks: Tasks
) -> Orrery:
    trust = trust_of(settings)
    connection = processor_connection(settings, secrets, trust)
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
        tasks,
        index_key=key,
    )
    fraud = FraudDomain(store, clock, reads, writes, approvals, checkout.address_of, settings.fraud_plan(secrets))
    approvals.allow(*checkout.operations(), *fraud.operations())
    holder = random.token_hex(8)
    live = _live(settings, secrets, clock, store, tasks, holder, trust)
    references = References.of_store(key)
    refer_to_sessions(references.within)
    notifiers = _referring(notifiers_of(settings, secrets, clock, trust), references)
    outbox = Outbox(store, clock, notifiers)
    workers = Workers(store, clock, holder)
    health = OwnerHealth(store, outbox, workers.failing, notifiers)
    secrets_check = _secrets_check(settings, secrets, clock, store, key)
    parts = Parts(health, checkout, live, secrets_check, references, snapshots_of(settings), clock)
    orrery = Orrery(
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
        parts=parts,
        readiness=Readiness(parts.all, clock),
        secrets_check=secrets_check,
        gate=AdminBasic(secrets.reveal("admin_password_hash"), live.wrong_passwords),
        mode=settings.mode,
    )
    _add_jobs(orrery, settings, trust)
    return orrery


def _referring(notifiers: Mapping[Channel, Notifier], references: References) -> dict[Channel, Notifier]:
    return {channel: ReferringNotifier(notifier, references) for channel, notifier in notifiers.items()}


def _add_jobs(orrery: Orrery, settings: Settings, trust: Trust) -> None:
    workers, outbox = orrery.workers, orrery.outbox
    workers.add(
        *(Job(f"deliver by {one}", timedelta(seconds=1), partial(outbox.deliver_due, one)) for one in CHANNELS)
    )
    # Each process checks its own failing jobs, and its secrets: another process's secrets may still be there.
    watch = OutageWatch(orrery.store, orrery.clock, orrery.readiness.run_round)
    workers.add(Job(OutageWatch.JOB, WATCH_EVERY, watch.notify, everywhere=True))
    workers.add(Job(SecretsCheck.JOB, EVERY, orrery.secrets_check.check, everywhere=True))
    workers.add(*orrery.checkout.jobs(), *orrery.live.jobs(), *orrery.fraud.jobs())
    if settings.heartbeat.url:
        heartbeat = HeartbeatJob(heartbeat_of(settings.heartbeat.url, trust), workers.failing, outbox.stuck)
        workers.add(Job(HeartbeatJob.JOB, timedelta(minutes=1), heartbeat.run))


def _secrets_check(settings: Settings, secrets: Secrets, clock: Clock, store: Store, key: bytes) -> SecretsCheck:
    fingerprints = Fingerprints.of_store(key)

    async def observe() -> SecretObservations:
        return await asyncio.to_thread(observe_secrets, settings, fingerprints)

    observer = f"{platform.node()}:{settings.server.private_port}"
    held = HeldSecrets(
        held_fingerprints(secrets, fingerprints), fingerprints.keyed_by, observer, uses_of(settings)
    )
    return SecretsCheck(store, clock, held, observe)


def _approvals(settings: Settings, secrets: Secrets, clock: Clock, store: Store, key: bytes) -> Approvals:
    return Approvals(
        store,
        clock,
        SshKeygen(settings.approvals.owner_keys, NAMESPACE),
        deployment=settings.deployment(key),
        forbidden=secrets.values(),
    )


def _live(
    settings: Settings, secrets: Secrets, clock: Clock, store: Store, tasks: Tasks, holder: str, trust: Trust
) -> LiveDomain:
    return LiveDomain(
        store,
        clock,
        analytics_of(settings, secrets, clock, trust),
        HttpCounter(settings.monitor_url, trust),
        tracker_of(settings, secrets, clock, trust),
        settings.live_plan(secrets),
        tasks,
        holder=holder,
    )
