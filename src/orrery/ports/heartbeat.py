"""The heartbeat to a watcher outside, as a port."""

from typing import Protocol


class Heartbeat(Protocol):
    """Reports to a watcher on another machine that the workers run and that nothing fails."""

    async def send(self) -> None:
        """Send one heartbeat; raise `DeliveryFailed` when the watcher did not accept it."""
        ...
