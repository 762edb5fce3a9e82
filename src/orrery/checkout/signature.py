"""The webhook's signature scheme (decision 7): pure, and guarded by frozen vectors (change rule 5).

Header `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">[,v1=…]`. Written here rather than called from the
vendor's library, whose check accepts a time in the future and fails with a TypeError on a non-ASCII header.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from orrery.errors import Invalid

TOLERANCE = timedelta(seconds=300)
"""How far the signing time may be in the past or in the future, inclusive (decision 7)."""

_TIME = re.compile(r"[0-9]{1,12}")
_HEX = re.compile(r"[0-9a-f]{64}")


def verify(body: bytes, header: str, secrets: Sequence[bytes], *times: datetime) -> None:
    """Return if one of `secrets` signed `body` within the tolerance of one of `times`; raise `Invalid` otherwise.

    `times` are the time by each clock that may be right.
    """
    if not secrets or not all(secrets):
        raise Invalid("There is no signing secret to check with.")
    signed_at, candidates = _parse(header)
    if not any(abs(int(one.timestamp()) - int(signed_at)) <= TOLERANCE.total_seconds() for one in times):
        raise Invalid("The signature's time is more than 300 s away.")
    if not _matches(signed_at.encode() + b"." + body, candidates, secrets):
        raise Invalid("No signature matches.")


def _parse(header: str) -> tuple[str, list[bytes]]:
    pairs = [item.strip().partition("=") for item in header.split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    candidates = [value.encode() for name, _, value in pairs if name == "v1" and _HEX.fullmatch(value)]
    if len(times) != 1 or not _TIME.fullmatch(times[0]):
        raise Invalid("The signature header carries no usable time.")
    if not candidates:
        raise Invalid("The signature header carries no v1 signature.")
    return times[0], candidates


def _matches(signed: bytes, candidates: list[bytes], secrets: Sequence[bytes]) -> bool:
    # Every pair is compared, so that the time taken does not reveal which one matched.
    expected = [hmac.new(secret, signed, hashlib.sha256).hexdigest().encode() for secret in secrets]
    matches = [hmac.compare_digest(one, other) for one in expected for other in candidates]
    return any(matches)
