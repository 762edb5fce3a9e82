"""The runtime of one module over an empty store, as its build function gets it."""

import secrets as random

from orrery.adapters.clock import SystemClock
from orrery.adapters.memory import MemoryStore
from orrery.app.adapters import Adapters
from orrery.app.settings.reader import Secrets, Settings
from orrery.runtime.module import Module
from orrery.runtime.runtime import Ground, Runtime
from orrery.runtime.tasks import Tasks


def runtime_of(module: Module, settings: Settings, secrets: Secrets | None = None) -> Runtime:
    """Return what the module is built with under these settings; no other module is there."""
    clock, held = SystemClock(), secrets or Secrets()
    ground = Ground(
        mode=settings.mode,
        deployment="deployment-of-tests",
        settings=settings,
        secrets=held,
        clock=clock,
        store=MemoryStore(clock),
        index_key=random.token_bytes(32),
        tasks=Tasks(),
        holder="one",
        port=Adapters(settings, held, clock).port,
    )
    return Runtime(module, ground, {})
