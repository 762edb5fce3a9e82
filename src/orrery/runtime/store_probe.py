"""Whether the store can be read and written."""

from orrery.errors import StoreError
from orrery.ports.health import Finding
from orrery.ports.store import MINIMUM_TTL, Put, Store
from orrery.runtime.collection import write

STORE = "store"
"""The part."""

_PROBE = "written"
"""The key that is written and read to see how the store is."""


class StoreProbe:
    """Reads and writes the store. `unwritable` is why the last write failed, or empty."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.unwritable = ""

    async def write(self) -> None:
        """Write to the store, for `finding`: a read does not show a full disk or a locked file."""
        try:
            await write(self._store, [Put(_PROBE, b"", MINIMUM_TTL)])
            self.unwritable = ""
        except StoreError as error:
            self.unwritable = str(error)

    async def read(self) -> None:
        """Raise `StoreError` when the store cannot be read."""
        _ = await self._store.get(_PROBE)

    async def finding(self, todo: str) -> Finding:
        """Return how the store is: read now, written when `write` was last called."""
        try:
            await self.read()
        except StoreError as error:
            return Finding(STORE, "broken", str(error), todo)
        return Finding(STORE, "broken", self.unwritable, todo) if self.unwritable else Finding(STORE, "ok")
