"""What the DNS publishes about a domain, as a port."""

from collections.abc import Sequence
from typing import Protocol

from orrery.errors import OrreryError


class RecordsNotRead(OrreryError):
    """The DNS could not be asked; the message is a sentence."""


class DomainRecords(Protocol):
    """Asks the DNS."""

    async def texts(self, name: str) -> Sequence[str] | None:
        """Return the TXT records of a name, none where it has other ones only; None where there is no such name.

        Raises `RecordsNotRead`.
        """
        ...
