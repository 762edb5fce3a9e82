"""Service-account keys, made when they are needed: none is kept in the source."""

import json
from typing import Protocol, cast

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from orrery.sandbox.analytics.config import AnalyticsConfig

CLIENT_EMAIL = "counter@orrery-sandbox.iam.gserviceaccount.com"
"""The service account's name; no real one has it."""

_KEY_BITS, _EXPONENT = 2048, 65537


class _Field(Protocol):
    def __call__(self, name: str) -> str: ...


def service_account_key(token_url: str) -> str:
    """Return the JSON text of a new service-account key whose tokens are minted at `token_url`."""
    key = rsa.generate_private_key(public_exponent=_EXPONENT, key_size=_KEY_BITS)
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "orrery-sandbox",
            "private_key_id": "sandbox",
            "private_key": key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ).decode(),
            "client_email": CLIENT_EMAIL,
            "client_id": "1",
            "token_uri": token_url,
        },
        indent=2,
    )


def token_url_of(key_json: str) -> str | None:
    """Return where a key's tokens are minted, or None when the text is no service account's key."""
    try:
        return _fields(key_json)("token_uri")
    except ValueError:
        return None


def config_of(key_json: str, property_id: str) -> AnalyticsConfig:
    """Return the provider that accepts this key alone; `ValueError` when the text is no service account's key."""
    field = _fields(key_json)
    private = serialization.load_pem_private_key(field("private_key").encode(), password=None)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return AnalyticsConfig(property_id, field("client_email"), public.decode())


def _fields(key_json: str) -> _Field:
    read: object = json.loads(key_json)
    if not isinstance(read, dict):
        raise ValueError("A service account's key is a JSON object.")  # noqa: TRY004  it is the text that is wrong
    given = cast("dict[str, object]", read)

    def field(name: str) -> str:
        value = given.get(name)
        if not isinstance(value, str):
            raise ValueError(f"A service account's key has a {name}.")  # noqa: TRY004  it is the text that is wrong
        return value

    return field
