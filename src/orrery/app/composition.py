"""The composition root: settings choose adapters, modules make parts over them, parts make HTTP apps and jobs."""

import json
import secrets as random
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from hashlib import sha256

from orrery.adapters.unavailable_store import UnavailableStore
from orrery.app.adapters import Adapters
from orrery.app.deployment import Orrery
from orrery.app.modules import MODULES
from orrery.app.node_identity import node_identity
from orrery.app.settings.former_names import WRITE_NEW, why_outdated
from orrery.app.settings.reader import Secrets, Settings
from orrery.app.settings.secret_observation import HeldSecretFiles
from orrery.app.settings.sections import sections_of
from orrery.app.store_place import clock_of, store_place
from orrery.edge.auth import FORGOTTEN_AFTER, MOST_GUESSES, GuessLimiter
from orrery.errors import OrreryError, StoreError, StoreUnavailable
from orrery.logs import refer_to_sessions
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.store import Store
from orrery.runtime.index_key import index_key, stored_key
from orrery.runtime.jobs import Workers
from orrery.runtime.module import Module, load, target_of
from orrery.runtime.nodes import NodeIdentity
from orrery.runtime.parts import Parts, refuse_duplicates
from orrery.runtime.personal_entries import with_marked
from orrery.runtime.privacy import Privacy
from orrery.runtime.references import References
from orrery.runtime.runtime import Ground, Runtime, in_order, needed_by, provided
from orrery.runtime.secret import SecretValues
from orrery.runtime.shared_times import SharedTimes, wrong_passwords_of
from orrery.runtime.tasks import Tasks
from orrery.secrets.check import ObservedSecrets


@asynccontextmanager
async def opened(
    settings: Settings, secrets: Secrets, wanted: Sequence[str] | None = None, *, unchanged: bool = False
) -> AsyncGenerator[Orrery]:
    """Open the store and compose the modules over it; raise `StoreUnavailable`, and `TrackRefused`.

    `wanted` are names of modules: with them, only these and what they need are composed. `unchanged`: nothing is
    migrated, and no key is made.
    """
    if settings.role == "cockpit":
        load("orrery.app.kept_apart:require_apart")(settings)
    store, tasks = await store_place(settings, secrets).open(), Tasks()
    try:
        adapters = Adapters(settings, secrets, clock_of(settings))
        if unchanged:
            yield composed(adapters, store, await stored_key(store), tasks, wanted)
        else:
            yield await migrated(adapters, store, tasks, wanted)
    finally:
        await tasks.finish()
        await store.close()


@asynccontextmanager
async def opened_for_examination(
    settings: Settings,
    secrets: Secrets,
    wanted: Sequence[str] | None = None,
    troubles: tuple[type[OrreryError], ...] = (StoreError,),
) -> AsyncGenerator[Orrery]:
    """Compose as `opened` does; where the store cannot be used, over one whose calls all raise the reason."""
    async with AsyncExitStack() as stack:
        try:
            orrery = await stack.enter_async_context(opened(settings, secrets, wanted))
        except troubles as trouble:
            error = StoreUnavailable(str(trouble).replace(f"{settings.store.store_file.parent}/", ""))
            orrery = without_store(settings, secrets, error, wanted)
        yield orrery


async def migrated(adapters: Adapters, store: Store, tasks: Tasks, wanted: Sequence[str] | None = None) -> Orrery:
    """Compose over an open store, and bring its records up to this release."""
    orrery = composed(adapters, store, await index_key(store), tasks, wanted)
    for migrate in (one for parts in orrery.modules for one in parts.migrations):
        _ = await migrate()
    return orrery


def without_store(
    settings: Settings, secrets: Secrets, why: OrreryError, wanted: Sequence[str] | None = None
) -> Orrery:
    """Compose over a store whose calls all raise why it cannot be used."""
    adapters, throwaway_key = Adapters(settings, secrets, clock_of(settings)), random.token_bytes(32)
    return composed(adapters, UnavailableStore(why), throwaway_key, Tasks(), wanted)


def _ground(adapters: Adapters, store: Store, key: bytes, tasks: Tasks) -> Ground:
    settings = adapters.settings
    return Ground(
        mode=settings.mode,
        deployment=_deployment_id(settings, key),
        settings=settings,
        secrets=adapters.secrets,
        clock=adapters.clock,
        store=store,
        index_key=key,
        tasks=tasks,
        holder=random.token_hex(8),
        port=adapters.port,
    )


def _deployment_id(settings: Settings, store_key: bytes) -> str:
    """Return a digest of what makes a deployment another one: its store's key, its mode, what its modules name."""
    own = sections_of(settings.role)
    identity = [key.partition(".") for module in MODULES for key in module.identity]
    values = [str(getattr(settings[own[one]], key)).rstrip("/") for one, _, key in identity if one in own]
    return sha256(json.dumps([store_key.hex(), settings.mode, *values]).encode()).hexdigest()[:16]


def _outdated_names(adapters: Adapters) -> list[Parts]:
    """Return what brings the one finding about names of settings and secrets that an earlier release had."""
    why = why_outdated(*adapters.settings.outdated, *adapters.secrets.outdated)

    async def check() -> list[Finding]:
        return [
            Finding("outdated settings", "ok", why, WRITE_NEW, essential=False, of_settings=True, of_machine=True)
        ]

    return [Parts(module="settings", checks=[check])] if why else []


def _built(module: Module, runtime: Runtime) -> Parts:
    try:
        return load(module.build)(runtime)
    except Exception as error:
        error.add_note(f"while the module {module.name} was built")
        raise


def _wrong_passwords(ground: Ground) -> SharedTimes:
    times = wrong_passwords_of(ground.store, ground.clock, timedelta(seconds=FORGOTTEN_AFTER))
    return SharedTimes(times, ground.index_key, MOST_GUESSES)


def composed(
    adapters: Adapters, store: Store, key: bytes, tasks: Tasks, wanted: Sequence[str] | None = None
) -> Orrery:
    """Build the modules over the store, each behind those that it needs."""
    of_role = [module for module in MODULES if adapters.settings.role in module.roles]
    chosen = [module for module in (of_role if wanted is None else needed_by(wanted, of_role)) if module.build]
    ground, references = _ground(adapters, store, key, tasks), References.of_store(key)
    refer_to_sessions(references.within)
    workers = Workers(store, ground.clock, ground.holder)
    given: dict[type, object] = {
        Clock: ground.clock,
        References: references,
        Workers: workers,
        GuessLimiter: GuessLimiter(ground.clock, _wrong_passwords(ground)),
        SecretValues: adapters.secrets,
        ObservedSecrets: HeldSecretFiles(adapters.settings, adapters.secrets),
    }
    if adapters.settings.role == "site":
        given[NodeIdentity] = node_identity(adapters, key, ground.holder)
    offers = {target_of(kind): one for kind, one in given.items()}
    built = dict[str, Parts]()
    for module in in_order(chosen, set(offers)):
        parts = built[module.name] = _built(module, Runtime(module, ground, offers))
        offers |= provided(module, parts)
    modules = [*(built[module.name] for module in chosen), *_outdated_names(adapters)]
    refuse_duplicates(modules)
    for follow in (one for parts in modules for one in parts.once_composed):
        follow(modules)
    workers.add(*(one for parts in modules for one in parts.jobs))
    personal = with_marked([one for parts in modules for one in parts.personal_data], ground.marked, key)
    ground.marked.closed = True
    offers[target_of(Privacy)] = Privacy(store, personal)
    return Orrery(store, adapters, modules, offers)
