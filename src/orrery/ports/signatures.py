"""The owner's signatures, as a port."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

LONGEST = 16_384
"""Bytes of a statement or a signature: far more than the largest key needs."""


class Signatures(Protocol):
    """Checks signatures."""

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Return the fingerprint of the owner's key that signed `statement`.

        Raises `ApprovalRefused` for another person's signature or one over another text, and `NotConfigured` when
        no key of the owner is known or the check cannot be made.
        """
        ...


class OwnerKeys(Protocol):
    """The owner's keys: those that the settings trust, and the one to sign with on this machine."""

    def signing_key(self, key: Path | None) -> Path:
        """Return the key to sign with: this one, or that of the settings.

        Raises `NotConfigured` without one, or without a trusted key.
        """
        ...

    def sign(self, statement: bytes, key: Path) -> bytes:
        """Return a signature by this key; the person may be asked for a passphrase or a touch.

        Raises `Invalid` when no signature is made.
        """
        ...

    def signatures(self, further: Sequence[str]) -> Signatures:
        """Return the check that trusts these public keys, too."""
        ...
