"""Tokens, taken apart: id tokens are verified with the authority's keys, access tokens are only read."""

import base64
import json
from typing import Any

import jwt
from jwt.exceptions import PyJWTError

from orrery.adapters.microsoft_identity.http import DeadlineSession
from orrery.ports.identity import IdentityRefused, IdentityUnreachable

_ALGORITHMS = ["RS256"]
"""What the authority signs id tokens with; `none` is not among them."""

_PARTS = 3


def verified(token: str, tenant_url: str, session: DeadlineSession) -> bytes:
    """Return the payload of an id token that the tenant's authority has signed, as JSON.

    Its keys are asked for each time: they change without notice.
    """
    try:
        key_id = jwt.get_unverified_header(token).get("kid")
        keys = [one for one in _keys(tenant_url, session) if one.key_id and one.key_id == key_id]
        if not keys:
            raise IdentityRefused(
                "The id token is signed with a key that the authority does not have: the sign-in is refused."
            )
        payload: Any = jwt.PyJWS().decode(token, key=keys[0], algorithms=_ALGORITHMS)
    except PyJWTError:
        raise IdentityRefused("The signature of the id token is wrong: the sign-in is refused.") from None
    return payload


def payload_of(token: str) -> bytes | None:
    """Return the payload of an access token, or None when it is opaque: only the API can verify it."""
    parts = token.split(".")
    payload = part_of(parts[1]) if len(parts) == _PARTS else None
    return payload if payload and payload.lstrip().startswith(b"{") else None


def part_of(text: str) -> bytes | None:
    """Return the content of a part of a token, in base64url without padding, or None."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None


def _keys(tenant_url: str, session: DeadlineSession) -> list[jwt.PyJWK]:
    address = _json(f"{tenant_url}/v2.0/.well-known/openid-configuration", session).get("jwks_uri")
    origin = tenant_url.rpartition("/")[0]
    if not isinstance(address, str) or not address.startswith(f"{origin}/"):
        raise IdentityUnreachable("The authority does not name the address of its keys.")
    return jwt.PyJWKSet.from_dict(_json(address, session)).keys


def _json(url: str, session: DeadlineSession) -> dict[str, Any]:
    answer = session.get(url)
    answer.raise_for_status()
    found: dict[str, Any] = json.loads(answer.text)
    return found
