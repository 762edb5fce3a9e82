"""Keyed fingerprints of secrets: they only show whether two values are equal (decision 42). Pure.

The key is the store's, so a fingerprint means nothing beside another store. Twelve digits are kept and shown.
"""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

DIGITS = 12
"""Hexadecimal digits of a fingerprint: two values have the same one once in 2^48."""

DIRECTORY = "directory"
"""The name of the secrets' folder among the secrets; the folder itself has no value."""

SecretState = Literal["present", "missing", "empty", "unreadable", "refused", "unknown"]
"""How a secret, or the folder, was found.

`refused`: the next start would refuse the folder's content. `unknown`: the secret's place cannot be read.
"""

Place = Literal["", "environment", "directory", "credentials", "copy"]
"""The place of a secret. `copy`: only the service manager's copy is left, and the configured folder has none."""


@dataclass(frozen=True, slots=True)
class SecretObservation:
    """The present state of one secret: its fingerprint when it is present, its place, and its file's mode."""

    state: SecretState
    fingerprint: str = ""
    place: Place = ""
    mode: int | None = None


SecretObservations = Mapping[str, SecretObservation]
"""The present state of each secret by its name, and of `DIRECTORY`."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Makes the fingerprints of one store's deployment."""

    _key: bytes = field(repr=False)

    @classmethod
    def of_store(cls, store_key: bytes) -> "Fingerprints":
        """Return those under a key derived from the store's own, which has another use too."""
        return cls(hmac.digest(store_key, b"orrery fingerprints of secrets", "sha256"))

    def __call__(self, name: str, value: str) -> str:
        """Return the fingerprint of a secret's value; the same value under another name has another one."""
        return hmac.new(self._key, f"{name}\0{value}".encode(), "sha256").hexdigest()[:DIGITS]

    @property
    def keyed_by(self) -> str:
        """The id of the key: fingerprints under different keys cannot be compared."""
        return self("", "")


Fingerprinting = Callable[[str, str], str]
"""Name and value to fingerprint."""
