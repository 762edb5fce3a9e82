"""The owner's signatures, as a port."""

from typing import Protocol


class Signatures(Protocol):
    """Checks signatures."""

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Return the fingerprint of the owner's key that signed `statement`.

        Raises `ApprovalRefused` for another person's signature or one over another text, and `NotConfigured` when
        no key of the owner is known or the check cannot be made.
        """
        ...
