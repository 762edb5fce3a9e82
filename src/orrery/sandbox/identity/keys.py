"""The keys that tokens are signed with, of which one at a time is published."""

import base64
from typing import cast

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from orrery.sandbox.state import Document, DocumentStore

_KIND = "_identity_key"

NEXT = "next"
"""The name of a key that is published and not yet used."""

FOREIGN = "foreign"
"""The name of the key that is never published."""


class SigningKeys:
    """The keys by name; each is made when it is first needed."""

    def __init__(self, state: DocumentStore) -> None:
        self._state = state

    def published(self, name: str, issuer: str) -> Document:
        """Return a key as the list of keys has it."""
        numbers = self._key(name).public_key().public_numbers()
        return {
            "kty": "RSA",
            "use": "sig",
            "kid": kid(name),
            "n": encoded(numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8)),
            "e": encoded(numbers.e.to_bytes(3)),
            "issuer": issuer,
        }

    def signature(self, name: str, signed: str) -> str:
        return encoded(self._key(name).sign(signed.encode(), PKCS1v15(), SHA256()))

    def _key(self, name: str) -> RSAPrivateKey:
        stored = self._state.get(_KIND, name)
        if stored is None:
            key = generate_private_key(public_exponent=65537, key_size=2048)
            text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
            self._state.save({"object": _KIND, "id": name, "pem": text})
            return key
        return cast("RSAPrivateKey", load_pem_private_key(stored["pem"].encode(), None))


def kid(name: str) -> str:
    """Return the id that a key is published under."""
    return encoded(f"key-of-the-sandbox-{name}".encode())


def encoded(part: bytes) -> str:
    """Return base64url without padding, as in a JWT."""
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()
