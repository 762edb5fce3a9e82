"""The owner's signatures, as a port."""

from typing import Protocol


class Signatures(Protocol):
    """Tells whose signature it is."""

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Return the fingerprint of the owner's key that signed `statement`.

        Raises `ApprovalRefused` for anybody else's signature or one over something else, and `NotConfigured` when
        no key of the owner is known or the check cannot be made.
        """
        ...
