"""What fraud screening asks of the module that sells, as a port."""

from typing import Protocol


class Seller(Protocol):
    """Sells something, and keeps from where the request came."""

    @property
    def sells(self) -> bool:
        """Whether something is sold, and the processor can be asked."""
        ...

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address that asked for the session of a payment, or None when it is not known."""
        ...
