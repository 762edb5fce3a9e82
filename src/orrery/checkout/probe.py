"""A signed body that is no event: it tells whose secret signed it, and is never stored (issue item 7). Pure.

The webhook checks the signature before it reads the body, so its two refusals tell which of them is wrong. Nothing
of the check is changed for this (change rule 5); behind it a probe is the one signed body that is refused.
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Literal

from orrery.checkout.signature import verify
from orrery.errors import Invalid

BODY = b"A probe of Orrery's own: this is signed, and no event."

NOT_AN_EVENT = "The webhook's body is not an event."
"""What the webhook says to a probe whose signature it accepts."""

NO_MATCH = "No signature matches."
"""What it says to one that another secret signed."""

ProbeVerdict = Literal["accepted", "refused", "no secret", "unclear"]


def signed(secret: bytes, now: datetime) -> str:
    """Return the signature header of a probe."""
    at = str(int(now.timestamp()))
    return f"t={at},v1={hmac.new(secret, at.encode() + b'.' + BODY, hashlib.sha256).hexdigest()}"


def accepts_itself(secrets: Sequence[bytes], now: datetime) -> bool:
    """Return whether each of `secrets` signs what the webhook's own check accepts by all of them."""
    try:
        for secret in secrets:
            verify(BODY, signed(secret, now), secrets, now)
    except Invalid:
        return False
    return bool(secrets)


def verdict(status: int, tag: str, message: str) -> ProbeVerdict:
    """Return what the webhook's answer to a probe says about the secret that it was signed with."""
    match status, tag, message:
        case HTTPStatus.BAD_REQUEST, "invalid-request", said if said == NOT_AN_EVENT:
            return "accepted"
        case HTTPStatus.BAD_REQUEST, "invalid-request", said if said == NO_MATCH:
            return "refused"
        case HTTPStatus.SERVICE_UNAVAILABLE, "not-configured", _:
            return "no secret"
        case _:
            return "unclear"
