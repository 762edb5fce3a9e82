"""Whether the store can be read, takes what a sale writes, and has room left."""

import secrets
from datetime import timedelta

from orrery.errors import StoreError
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.store import MINIMUM_TTL, Put, Store, StoreRisk
from orrery.runtime.collection import write
from orrery.runtime.index_key import INDEX_KEY, emptied

STORE = "store"
"""The part."""

DISK = "disk"
"""The part that is broken while the store has little room left."""

DATABASE = "database"
"""The part that describes the database of the store; each of its risks is a separate part, with a word more."""

SALE = 64 << 10
"""Bytes that are written on trial. The largest commit of a sale takes 37 to 50 KB of the log (decision 73)."""

EVERY = timedelta(minutes=1)
"""How often that is tried while no commit fails."""

MIB = 1 << 20

_PROBE = "written"
"""The key that is written over and over."""


class StoreProbe:
    """Examines the store. `unusable` is why it fails, or empty; `last_failure` is kept when it works again.

    `ahead` is how far this machine's clock is before that of the store.
    """

    def __init__(self, store: Store, clock: Clock, least_free: int = 0) -> None:
        """`least_free` is the room in bytes below which `disk` is broken."""
        self._store, self._clock, self._least_free = store, clock, least_free
        self._free: int | None = None
        self._has_key = False
        self._risks: tuple[StoreRisk, ...] = ()
        self._summary = ""
        self.ahead = timedelta(0)
        self._failed: int = 0
        self._tried = float("-inf")
        self.unusable = self.last_failure = ""

    async def examine(self) -> None:
        """Look at the storage; write to it when the last trial is old or failed, or a commit has failed since.

        A read does not show a full disk or a locked file, and a small write may fit where a sale does not.
        """
        try:
            found = await self._store.inspect()
            self._free, self._risks, self._summary = found.free, found.risks, found.summary
            self.ahead = found.ahead
            old = self._clock.monotonic() - self._tried >= EVERY.total_seconds()
            if old or found.failed != self._failed:
                # Noise, because a disk that compresses would find room for anything else.
                await write(self._store, [Put(_PROBE, secrets.token_bytes(SALE), MINIMUM_TTL)])
                self._tried, self._failed = self._clock.monotonic(), found.failed
            self.unusable = ""
        except StoreError as error:
            self.unusable = self.last_failure = str(error)

    async def read(self) -> None:
        """Raise `StoreError` when the store cannot be read, or was emptied while it was in use."""
        found = await self._store.get(INDEX_KEY)
        if self._has_key and found is None:
            raise emptied()
        self._has_key = found is not None

    async def findings(self, todo: str) -> list[Finding]:
        """Return how the store is: read now, and examined when `examine` was last called."""
        try:
            await self.read()
        except StoreError as error:
            return [broken_store(str(error), todo)]
        return self.examined(todo)

    def examined(self, todo: str) -> list[Finding]:
        """Return what `examine` found."""
        store = broken_store(self.unusable, todo) if self.unusable else Finding(STORE, "ok", essential=True)
        return [store, *self._database(), *self._disk()]

    def _database(self) -> list[Finding]:
        if not self._summary:
            return []
        risks = [
            Finding(f"{DATABASE} {one.name}", "broken", one.why, one.todo, essential=False) for one in self._risks
        ]
        return [Finding(DATABASE, "ok", self._summary, essential=False), *risks]

    def _disk(self) -> list[Finding]:
        if self._free is None or self._free >= self._least_free:
            return []
        why = (
            f"The disk of the store is nearly full: {self._free / MIB:.1f} MiB are free, "
            f"and [store] least_free_mib is {self._least_free // MIB}."
        )
        todo = "Make room: a full disk stops every sale. `orrery doctor` looks again."
        return [Finding(DISK, "broken", why, todo, essential=False, cause=STORE, of_machine=True)]


def broken_store(why: str, todo: str) -> Finding:
    return Finding(STORE, "broken", why, todo, essential=True)
