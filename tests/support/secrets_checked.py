"""A deployment's secrets as the guard sees them: what lies there and what the process holds, as a test says."""

import asyncio
from dataclasses import dataclass, field

from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.ports.store import Store
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.watch import OutageWatch
from orrery.secrets.alerts import SecretUse
from orrery.secrets.check import HeldSecrets, SecretsCheck
from orrery.secrets.fingerprints import DIRECTORY, Fingerprints, SecretObservation, SecretObservations
from tests.support.clock import ManualClock

KEY, TOKEN, UNUSED = "processor_api_key", "push_token", "tracker_token"
USES = {
    KEY: SecretUse(needed=True, stops="nobody can buy.", essential=True),
    TOKEN: SecretUse(needed=True, stops="pushes wait."),
    UNUSED: SecretUse(needed=False, stops="", idle="No tracker wants one."),
}
FINGERPRINTS = Fingerprints.of_store(b"the tests' own store key")


def lying(name: str, value: str) -> SecretObservation:
    """Return a secret as a file with this value."""
    return SecretObservation("present", FINGERPRINTS(name, value), "directory", 0o600)


@dataclass
class CheckedSecrets:
    """A guard over a store and a clock. `lying` is what lies there; `memory` the values that the process holds."""

    clock: ManualClock = field(default_factory=ManualClock)
    store: Store | None = None
    memory: dict[str, str] = field(default_factory=lambda: {KEY: "first", TOKEN: "first"})
    observer: str = "here:8081"

    def __post_init__(self) -> None:
        self.store = self.store or MemoryStore(self.clock)
        self.lying: dict[str, SecretObservation] = {name: SecretObservation("missing") for name in USES}
        self.lying |= {name: lying(name, value) for name, value in self.memory.items()}
        self.lying[DIRECTORY] = SecretObservation("present", "there", "directory", 0o700)
        self.looks = 0
        held = {name: FINGERPRINTS(name, self.memory[name]) if name in self.memory else None for name in USES}
        in_memory = HeldSecrets(held, FINGERPRINTS.keyed_by, self.observer, USES)
        self.secrets_check = SecretsCheck(self.store, self.clock, in_memory, self._observe)
        self._watch = OutageWatch(self.store, self.clock, self.secrets_check.findings)

    def beside(self, observer: str, **memory: str) -> "CheckedSecrets":
        """Return another process of the same deployment, which holds and sees these values."""
        return CheckedSecrets(self.clock, self.store, memory, observer)

    def put(self, name: str, value: str) -> None:
        """Write a secret's file."""
        self.lying[name] = lying(name, value)

    async def look(self) -> None:
        """Let the guard look, and time pass when it looks twice; then let the watch see what it found."""
        looking = asyncio.create_task(self.secrets_check.check())
        while not looking.done():
            await checkpoint()
            if self.clock.sleepers:
                self.clock.advance(2)
        await looking
        await self._watch.notify()
        self.clock.advance(1)

    async def pushes(self) -> list[Notification]:
        """Return what the owner was told, in order."""
        assert self.store is not None
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return sorted(rows, key=lambda row: (row.created_at, row.id))

    async def told(self) -> list[str]:
        """Return the titles of what the owner was told."""
        return [row.title for row in await self.pushes()]

    async def _observe(self) -> SecretObservations:
        self.looks += 1
        await checkpoint()
        return dict(self.lying)
