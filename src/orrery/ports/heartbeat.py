"""A sign of life to somebody outside, as a port."""

from typing import Protocol


class Heartbeat(Protocol):
    """Tells a watcher elsewhere that the workers are alive and well."""

    async def beat(self) -> None:
        """Give one sign of life; raise `DeliveryFailed` when the watcher did not hear it."""
        ...
