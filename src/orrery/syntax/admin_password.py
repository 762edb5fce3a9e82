"""The form of the admin password, and its hash."""

import hashlib

from orrery.errors import Invalid
from orrery.syntax.lines import is_header_text

SHORTEST = 12
"""Characters of a new one: its hash is a plain SHA-256, as the spec requires, so only length protects it."""

LONGEST = 4096
"""Characters, also of any other bearer."""


def sendable(password: str) -> str:
    """Return an admin password as a bearer carries it, without the white space around it.

    Raises `Invalid` for one that cannot travel in a header, or that programs would encode in different ways.
    """
    stripped = password.strip()
    if not is_header_text(stripped) or len(stripped) > LONGEST:
        raise Invalid(f"The password must be 1 to {LONGEST} printable ASCII characters: it travels in a header.")
    return stripped


def hashed(password: bytes) -> str:
    """Return the hash by which a password is configured: SHA-256 in hexadecimal digits."""
    return hashlib.sha256(password).hexdigest()


def hash_of_new(password: str) -> str:
    """Return the hash of a password that an owner has chosen; raise `Invalid` for one that cannot be taken."""
    chosen = sendable(password)
    if len(chosen) < SHORTEST:
        raise Invalid(f"The password must have at least {SHORTEST} characters.")
    return hashed(chosen.encode())
