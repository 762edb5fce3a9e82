"""The refresh operation of a running service over the network, as a port: for `orrery live refresh`."""

from dataclasses import dataclass
from typing import Protocol

DEADLINE = 20.0
"""Seconds that one refresh may take."""


@dataclass(frozen=True, slots=True)
class RefreshReply:
    """The HTTP status and the body of an answer; or why none came in time (`late`), or none that can be read."""

    status: int = 0
    body: bytes = b""
    why: str = ""
    late: bool = False


class RefreshService(Protocol):
    """One service."""

    async def post(self, path: str, password: str) -> RefreshReply:
        """Post to its refresh operation. Every trouble is an answer, too."""
        ...


class RefreshServices(Protocol):
    """The services that can be asked, by their address."""

    def own_address(self) -> str:
        """Return where this deployment's service listens; raise `Invalid` for settings that cannot be used."""
        ...

    def at(self, base_url: str) -> RefreshService:
        """Return the service at this address."""
        ...
