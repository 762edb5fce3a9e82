"""The order of a button's form, by which its buyer gets a session."""

import hmac
import secrets
from dataclasses import dataclass, field

from orrery.ports.clock import Clock

ORDER_SECONDS = 600
"""How long the way to the payment page may be taken again, by a reload: later the buyer is asked."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Makes the order that each sent form of a button gets: the way to one session, and to no other buyer's.

    Nothing is stored of it before the session is made under it. Without one that is good, an address makes none.
    """

    clock: Clock
    key: bytes = field(repr=False)

    @classmethod
    def of_store(cls, store_key: bytes, clock: Clock) -> "Orders":
        """Return those under a key derived from the store's own."""
        return cls(clock, hmac.digest(store_key, b"orrery orders of buttons", "sha256"))

    def new(self, product: str) -> str:
        """Return an order for one session for `vendor/cert`."""
        made = f"{int(self.clock.now().timestamp())}.{secrets.token_hex(16)}"
        return f"{made}.{self._proof(product, made)}"

    def is_good(self, order: str, product: str) -> bool:
        """Return whether it was made for this product, and not too long ago."""
        made, _, proof = order.rpartition(".")
        if not hmac.compare_digest(proof.encode(), self._proof(product, made).encode()):
            return False
        return 0 <= self.clock.now().timestamp() - int(made.partition(".")[0]) <= ORDER_SECONDS

    def _proof(self, product: str, made: str) -> str:
        return hmac.digest(self.key, f"{product} {made}".encode(), "sha256").hex()
