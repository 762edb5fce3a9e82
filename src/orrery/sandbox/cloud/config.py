"""What the sandbox's cloud is set up with."""

import socket
from dataclasses import dataclass, field
from pathlib import Path

from orrery.ports.cloud import PAUSE_TAG
from orrery.ports.cloud.machine import Restart

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
TENANT = "00000000-0000-4000-8000-000000000002"
RESOURCE_GROUP = "gateway-sandbox"
MACHINE = "gateway"
LOCATION = "westeurope"
MACHINE_ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{RESOURCE_GROUP}"
    f"/providers/Microsoft.Compute/virtualMachines/{MACHINE}"
)

TOKEN_PATH = "/msi/token"  # noqa: S105  a path
"""Where a managed identity asks for a token, as on App Service (IDENTITY_ENDPOINT)."""

IDENTITY_HEADER = "sandbox-identity-header"
"""What it shows there: no real cloud knows it."""


@dataclass(frozen=True, slots=True)
class CloudConfig:
    """The configuration of the cloud.

    `listener` is the bound socket on which it is asked by https with `certificate`, a file of key and certificate.
    `restart` is what a job runs in the runbook's place; `pause_tag` names the machine's tag that it is shown.
    Delays are divided by `factor`, and drawn anew by `seed`. With `owner`, an e-mail address, everything that
    brings the machine back is there from the start; without it the cloud is empty but for the machine.
    """

    listener: socket.socket
    certificate: Path
    restart: Restart | None = None
    pause_tag: str = PAUSE_TAG
    factor: float = 1.0
    seed: int = 0
    owner: str | None = None
    subscription: str = SUBSCRIPTION
    resource_group: str = RESOURCE_GROUP
    machine: str = MACHINE
    location: str = LOCATION
    identity_header: str = field(default=IDENTITY_HEADER, repr=False)

    @property
    def url(self) -> str:
        """Return the address of the management API."""
        return f"https://localhost:{self.listener.getsockname()[1]}"

    @property
    def group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.resource_group}"

    @property
    def machine_id(self) -> str:
        return f"{self.group_id}/providers/Microsoft.Compute/virtualMachines/{self.machine}"
