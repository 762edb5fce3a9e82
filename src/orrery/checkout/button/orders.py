"""The order of a button's form, by which its buyer gets a session."""

import hmac
import re
import secrets
from dataclasses import dataclass, field

from orrery.ports.clock import Clock

ORDER_SECONDS = 600
"""How long the way to the payment page may be taken again, by a reload: later the buyer is asked."""

_BROWSER = re.compile(rb"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Orders:
    """Makes the order that each sent form of a button gets: the way to one session, and to no other buyer's.

    Nothing is stored of it before the session is made under it. Without one that is good, an address makes none.
    An order is of the browser whose form it answered: who only learns of it does not get that browser's session.
    """

    clock: Clock
    key: bytes = field(repr=False)

    @classmethod
    def of_store(cls, store_key: bytes, clock: Clock) -> "Orders":
        """Return those under a key derived from the store's own."""
        return cls(clock, hmac.digest(store_key, b"orrery orders of buttons", "sha256"))

    def browser(self, sent: bytes) -> bytes:
        """Return the id that a browser sent, or a new one for a browser that sent none."""
        return sent if _BROWSER.fullmatch(sent) else secrets.token_hex(16).encode()

    def new(self, product: str, browser: bytes) -> str:
        """Return an order for one session for `vendor/cert`, of this browser."""
        made = f"{int(self.clock.now().timestamp())}.{secrets.token_hex(16)}"
        bound = f"{made}.{self._proof(browser.decode(), made)}"
        return f"{bound}.{self._proof(product, bound)}"

    def is_of(self, order: str, browser: bytes) -> bool:
        """Return whether a good order is of this browser."""
        made, _, bound = order.rpartition(".")[0].rpartition(".")
        is_id = _BROWSER.fullmatch(browser)
        return bool(is_id) and hmac.compare_digest(bound, self._proof(browser.decode(), made))

    def is_good(self, order: str, product: str) -> bool:
        """Return whether it was made for this product, and not too long ago."""
        made, _, proof = order.rpartition(".")
        if not hmac.compare_digest(proof.encode(), self._proof(product, made).encode()):
            return False
        return 0 <= self.clock.now().timestamp() - int(made.partition(".")[0]) <= ORDER_SECONDS

    def _proof(self, of: str, made: str) -> str:
        return hmac.digest(self.key, f"{of} {made}".encode(), "sha256").hex()
