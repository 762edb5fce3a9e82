"""The folder of dated snapshots, as a port."""

from datetime import datetime
from typing import Protocol


class Snapshots(Protocol):
    """Finds the snapshots that are there. Its calls block."""

    def newest(self) -> datetime | None:
        """Return when the newest snapshot was made, or None without one, or when the folder cannot be read."""
        ...
