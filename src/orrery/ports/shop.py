"""The public checkout operation as a visitor's browser sees it, as a port: what `verify` goes through."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Started:
    """The operation's answer: the processor's session, or a sentence with the reason for its absence.

    `may_exist`: the answer was lost, or was not the service's, so a session may exist.
    """

    session_id: str | None
    why: str = ""
    may_exist: bool = False


class Shop(Protocol):
    """Starts a hosted payment session over the network."""

    async def start(self, *, product_type: str, vendor_slug: str, cert_code: str, key: str) -> Started:
        """Ask for a session; the same `key` leads to the same session. Every trouble is an answer, too."""
        ...


class Shops(Protocol):
    """The shops that can be asked, by their address."""

    def at(self, base_url: str | None) -> Shop:
        """Return the shop at an address; without one, this deployment's own."""
        ...
