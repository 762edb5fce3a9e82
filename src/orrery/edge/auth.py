"""Bearer and basic credentials, compared in constant time."""

import base64
import binascii
import hashlib
import hmac

from starlette.requests import Request

from orrery.edge.problems import Problem

_LONGEST = 4096


def bearer(request: Request) -> bytes | None:
    """Return the bearer token as bytes, or None when there is none of a sane length."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not 0 < len(token) <= _LONGEST:
        return None
    return token.strip().encode("latin-1", "replace")


def require_bearer(request: Request, expected: bytes | None) -> None:
    """Raise 503 when no token is configured and 401 unless the request carries `expected`."""
    if not expected:
        raise Problem(503, "not-configured", "This part has no token configured.")
    given = bearer(request)
    if given is None or not hmac.compare_digest(given, expected):
        raise Problem(401, "unauthorized", "A valid bearer token is needed.", {"WWW-Authenticate": "Bearer"})


def basic_password_matches(request: Request, password_hash: str | None) -> bool:
    """Return whether HTTP Basic carries the password of this SHA-256 hash (spec 2, Authentication 2)."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic" or not password_hash or len(encoded) > _LONGEST:
        return False
    try:
        password = base64.b64decode(encoded, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hashlib.sha256(password).hexdigest().encode(), password_hash.lower().encode())
