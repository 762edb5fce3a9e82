"""Where a store is, as a port: what makes and opens it, whatever engine keeps it."""

from typing import Protocol

from orrery.ports.clock import Clock
from orrery.ports.store import Store


class StorePlace(Protocol):
    """The place of one store; it can be sent to another process."""

    def create(self) -> None:
        """Make an empty store; raise `Invalid` where one is, `StoreUnavailable` where none can be made."""
        ...

    async def open(self, clock: Clock) -> Store:
        """Open the store; raise `StoreMissing` without one, `StoreUnavailable` when it cannot be used."""
        ...
