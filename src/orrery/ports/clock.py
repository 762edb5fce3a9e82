"""Time, as a port: everything that asks what time it is, or waits, asks here."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock and monotonic time, and waiting."""

    def now(self) -> datetime:
        """Return the current time, timezone-aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`, or not at all when that is zero or less."""
        ...
