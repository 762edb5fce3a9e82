"""OAuth tokens for a signed assertion (RFC 7523), as the provider's token endpoint gives them."""

import base64
import binascii
import json
import secrets
from collections.abc import Callable
from typing import cast
from urllib.parse import parse_qsl

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from orrery.ports.clock import Clock
from orrery.sandbox.analytics import errors
from orrery.sandbox.analytics.config import TOKEN_PATH, AnalyticsConfig
from orrery.sandbox.state import Document

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCE = "https://oauth2.googleapis.com/token"
"""The audience that the vendor's libraries put into `aud`, for any address of the token endpoint."""

LIFETIME = 3600
"""Seconds that a token lasts, and that an assertion may be meant for."""

SKEW = 300
"""Seconds that the signer's clock may differ."""

_SCOPES = "https://www.googleapis.com/auth/"
_READING = frozenset({f"{_SCOPES}analytics.readonly", f"{_SCOPES}analytics"})
_TIMEFRAME = (
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
    "Check your iat and exp values in the JWT claim."
)
_PARTS = 3


class Denied(Exception):
    """The token endpoint's refusal: an OAuth error and its description."""

    def body(self) -> Document:
        """Return the answer's body."""
        error, description = self.args
        return {"error": error, "error_description": description}


class Tokens:
    """Mints tokens and knows which are good. They live in memory and end with the process."""

    def __init__(self, config: AnalyticsConfig, base_url: str, clock: Clock) -> None:
        self._config = config
        self._audiences = (AUDIENCE, f"{base_url}{TOKEN_PATH}")
        self._clock = clock
        self._issued: dict[str, tuple[float, frozenset[str]]] = {}
        self.minted = 0

    def mint(self, body: bytes) -> Document:
        """Return the answer to a token request's form; raise `Denied`."""
        form = dict(parse_qsl(body.decode(errors="replace")))
        if (grant := form.get("grant_type", "")) != GRANT:
            raise Denied("unsupported_grant_type", f"Invalid grant_type: {grant}")
        if not (assertion := form.get("assertion")):
            raise Denied("invalid_request", "Missing required parameter: assertion")
        scopes = self._granted(self._verified(assertion))
        token = f"sandbox-{secrets.token_hex(16)}"
        self._issued[token] = (self._now() + LIFETIME, scopes)
        self.minted += 1
        return {"access_token": token, "expires_in": LIFETIME - 1, "token_type": "Bearer"}

    def check(self, authorization: str) -> None:
        """Return if this header lets read reports; raise `Refused`."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise errors.no_token()
        ends, scopes = self._issued.get(token.strip(), (0.0, frozenset[str]()))
        if self._now() >= ends:
            raise errors.wrong_token()
        if not scopes & _READING:
            raise errors.wrong_scope()

    def _verified(self, assertion: str) -> Document:
        """Return the claims of an assertion that the account has signed."""
        parts = assertion.split(".")
        if len(parts) != _PARTS:
            raise Denied("invalid_grant", "Invalid JWT: not three parts")
        header, claims = (_decoded(part) for part in parts[:2])
        if claims.get("iss") != self._config.client_email:
            raise Denied("invalid_grant", "Invalid grant: account not found")
        if header.get("alg") != "RS256" or not self._is_signed(f"{parts[0]}.{parts[1]}", parts[2]):
            raise Denied("invalid_grant", "Invalid JWT Signature.")
        return claims

    def _is_signed(self, signed: str, signature: str) -> bool:
        key = cast("RSAPublicKey", load_pem_public_key(self._config.public_key.encode()))
        try:
            key.verify(_bytes(signature), signed.encode(), PKCS1v15(), SHA256())
        except (InvalidSignature, binascii.Error):
            return False
        return True

    def _granted(self, claims: Document) -> frozenset[str]:
        """Return the scopes, unless the claims are not for now, not for us, or for nothing."""
        if not self._is_timely(claims.get("iat"), claims.get("exp")):
            raise Denied("invalid_grant", _TIMEFRAME)
        if claims.get("aud") not in self._audiences:
            raise Denied("invalid_grant", f"Invalid JWT: Failed audience check. The right audience is {AUDIENCE}")
        scopes = str(claims.get("scope", "")).split()
        if not scopes or not all(scope.startswith(_SCOPES) for scope in scopes):
            raise Denied("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        return frozenset(scopes)

    def _is_timely(self, issued: object, ends: object) -> bool:
        if not isinstance(issued, int) or not isinstance(ends, int):
            return False
        now = self._now()
        return issued <= now + SKEW and now < ends + SKEW and 0 < ends - issued <= LIFETIME

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _decoded(part: str) -> Document:
    read = _or_denied(lambda: json.loads(_bytes(part)))
    if not isinstance(read, dict):
        raise Denied("invalid_grant", "Invalid JWT: not an object")
    return cast("Document", read)


def _or_denied(read: Callable[[], object]) -> object:
    try:
        return read()
    except ValueError as error:
        raise Denied("invalid_grant", "Invalid JWT: cannot be decoded") from error


def _bytes(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
