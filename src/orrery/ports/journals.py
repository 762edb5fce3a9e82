"""The journal of another machine."""

from datetime import datetime
from typing import Protocol


class Journals(Protocol):
    """Reads what a machine's service manager noted about a unit and its guest."""

    def read(self, host: str, unit: str, guest_tag: str, since: datetime, until: datetime) -> list[str]:
        """Return the entries as `journalctl -o json` writes them, one a line; raise `Invalid` when it cannot."""
        ...
