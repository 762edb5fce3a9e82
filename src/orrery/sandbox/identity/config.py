"""What the sandbox's identity provider is set up with: its listener, two tenants, and the accounts in them."""

import socket
from dataclasses import dataclass
from pathlib import Path

TENANT_A = "00000000-0000-4000-8000-0000000000a0"
TENANT_B = "00000000-0000-4000-8000-0000000000b0"
CLIENT_A = "00000000-0000-4000-8000-0000000000a1"
CLIENT_B = "00000000-0000-4000-8000-0000000000b1"

TENANTS = {TENANT_A: "corp.example", TENANT_B: "lab.example"}
"""Each tenant with its domain."""

CLIENTS = (CLIENT_A, CLIENT_B)
"""The public clients, which every tenant knows, as it knows an application that was made for several."""

GRAPH = "https://graph.microsoft.com"
"""The only resource that there are tokens for."""


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account: where its home is, and its object id in each tenant that it may sign in to."""

    username: str
    name: str
    home: str
    object_ids: dict[str, str]

    def is_guest(self, tenant: str) -> bool:
        return tenant != self.home

    def upn(self, tenant: str) -> str:
        """Return the user principal name there, which is not the address for a guest."""
        if not self.is_guest(tenant):
            return self.username
        return f"{self.username.replace('@', '_')}#EXT#@{TENANTS[tenant]}"


_ANN_A, _BOB_A, _ANN_B, _GUEST_A = (f"00000000-0000-4000-8000-0000000000{end}" for end in ("a2", "a3", "b2", "a4"))

ACCOUNTS = {
    one.username: one
    for one in (
        Account("ann@corp.example", "Ann (Corp)", TENANT_A, {TENANT_A: _ANN_A}),
        Account("bob@corp.example", "Bob (Corp)", TENANT_A, {TENANT_A: _BOB_A}),
        Account("ann@lab.example", "Ann (Lab)", TENANT_B, {TENANT_B: _ANN_B, TENANT_A: _GUEST_A}),
    )
}
"""Each account by its address. The last one is a guest in tenant A."""


@dataclass(frozen=True, slots=True)
class IdentityConfig:
    """The configuration of the identity provider.

    `listener` is the bound socket on which it is asked by https with `certificate`, a file of key and certificate.
    A waiting device code is to be asked for every `interval` seconds.
    """

    listener: socket.socket
    certificate: Path
    interval: int = 5

    @property
    def url(self) -> str:
        """Return its address, which an authority's address begins with."""
        return f"https://localhost:{self.listener.getsockname()[1]}"
