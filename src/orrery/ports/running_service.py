"""What the owner's commands ask of the service that runs on this machine, as a port."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class RunningSecrets:
    """The fingerprints of the running service's secrets, None for a missing one, and the id of their key."""

    keyed_by: str
    secrets: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class ServiceRefusal:
    """An error as every operation answers it: its HTTP status, its tag and its sentence."""

    status: int = 0
    error: str = ""
    message: str = ""


class RunningService(Protocol):
    """Asks the two listeners of the service. None means that no service of ours answers there."""

    async def held_secrets(self) -> RunningSecrets | None:
        """Return the fingerprints of the service's secrets."""
        ...

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServiceRefusal | None:
        """Post a JSON body to the public listener, and return how it was refused."""
        ...
