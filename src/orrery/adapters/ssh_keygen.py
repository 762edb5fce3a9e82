"""The owner's signatures by OpenSSH's own tool, which knows hardware keys too (decision 15)."""

from collections.abc import Sequence
from pathlib import Path

from orrery.errors import NotConfigured

DEADLINE = 10.0
"""Seconds that a check may take."""


class SshKeygen:
    """Checks signatures with `ssh-keygen -Y verify` against the owner's public keys, one line each."""

    def __init__(self, owner_keys: Sequence[str], namespace: str) -> None:
        self._owner_keys = owner_keys
        self._namespace = namespace

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Return the fingerprint of the owner's key that signed `statement`; see the port."""
        del statement, signature
        raise NotConfigured("No key of the owner is configured.")

    def sign(self, statement: bytes, key: Path) -> bytes:
        """Return a signature by this key, asking at the terminal for what the key wants: a passphrase, a touch."""
        del statement, key
        raise NotConfigured("No key of the owner is configured.")
