"""The owner's public keys, as OpenSSH writes them (decision 15): pure.

ssh-ed25519 AAAAC3Nza… a comment
"""

import base64
import binascii

from orrery.errors import Invalid

SMALLEST_RSA = 2048
"""Bits: a shorter key can be broken."""

_PARTS = {
    "ssh-ed25519": 2,
    "ssh-rsa": 3,
    "ecdsa-sha2-nistp256": 3,
    "ecdsa-sha2-nistp384": 3,
    "ecdsa-sha2-nistp521": 3,
    "sk-ssh-ed25519@openssh.com": 3,
    "sk-ecdsa-sha2-nistp256@openssh.com": 4,
}
"""The types of keys, and of how many parts each consists; those that begin with sk are in hardware."""


def public_key(line: str) -> str:
    """Return the type and the base64 of a public key, without its comment; raise `Invalid` when it is none.

    The error does not repeat the text: it may be a private key.
    """
    if "PRIVATE KEY" in line:
        raise Invalid(
            "this is a private key; keep it out of the settings, and put its public half here (FILE.pub)"
        )
    # OpenSSH separates by blanks and tabs; other white space comes from copying, and is no separator to it.
    if not line.strip().replace("\t", " ").isprintable():
        raise Invalid("a public key is one line, separated by blanks or tabs")
    kind, encoded, *_ = [*line.split(), "", ""]
    if kind not in _PARTS:
        raise Invalid(f"a public key begins with its type: {', '.join(_PARTS)} (no options, no certificates)")
    parts = _parts(encoded)
    if len(parts) != _PARTS[kind] or parts[0] != kind.encode():
        raise Invalid(f"what follows {kind} is no such key in base64")
    if kind == "ssh-rsa" and int.from_bytes(parts[2], "big").bit_length() < SMALLEST_RSA:
        raise Invalid(f"an RSA key has at least {SMALLEST_RSA} bits")
    return f"{kind} {encoded}"


def _parts(encoded: str) -> list[bytes]:
    """Return the parts of a key, each of which begins with its length; none when the lengths do not add up."""
    try:
        left = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return []
    parts: list[bytes] = []
    while left:
        end = 4 + int.from_bytes(left[:4], "big")
        if len(left) < end:
            return []
        parts.append(left[4:end])
        left = left[end:]
    return parts
