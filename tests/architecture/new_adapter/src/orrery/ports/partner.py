"""The partner as a port: what is asked of it, in our words."""

from typing import Protocol

from orrery.errors import OrreryError


class PartnerFailed(OrreryError):
    """The partner could not be asked, or refused."""


class Partner(Protocol):
    """Takes notices."""

    async def notify(self, text: str) -> str:
        """Give one notice, and return its id; raise `PartnerFailed`."""
        ...
