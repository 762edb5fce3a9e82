"""Fingerprints: the same finding can be known again, and nobody without the key learns what it was."""

import hmac
from dataclasses import dataclass, field
from hashlib import sha256

LENGTH = 12
"""Hexadecimal digits: enough to tell the findings of one owner apart."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Makes fingerprints; without a key all are empty, because one without a key could be guessed."""

    key: bytes = field(default=b"", repr=False)

    def of(self, kind: str, value: str) -> str:
        """Return the fingerprint of a finding."""
        if not self.key:
            return ""
        return hmac.new(self.key, f"{kind}\0{value}".encode(), sha256).hexdigest()[:LENGTH]
