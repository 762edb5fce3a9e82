"""Bearer and basic credentials, compared in constant time."""

import base64
import binascii
import hashlib
import hmac
import re

from starlette.requests import Request

from orrery.edge.problems import Problem
from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.syntax.lines import is_header_text

_LONGEST = 4096

FIRST_DELAY, LONGEST_DELAY = 0.25, 4.0
"""Seconds that a wrong admin password waits for its answer: the first one, and each after a few of them."""

FORGOTTEN_AFTER = 60.0
"""Seconds without a wrong admin password after which the next one is the first again."""

MOST_WAITING = 64
"""How many wrong ones wait at once, so that they fill no memory; those beyond are refused without waiting."""

_HASH = re.compile(r"[0-9a-f]{64}")


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


def basic_password(request: Request) -> bytes | None:
    """Return the password of HTTP Basic as bytes, or None when there is none of a sane length."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic" or len(encoded) > _LONGEST:
        return None
    try:
        return base64.b64decode(encoded, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return None


class AdminPassword:
    """The owner's password, whose SHA-256 is configured (spec 2, Authentication 2).

    Wrong ones are slowed down, the more of them the more; a right one never waits. That spares the logs, and makes
    one guesser slow; against many at once only the length of the password helps.
    """

    def __init__(self, password_hash: str | None, clock: Clock) -> None:
        self._hash = (password_hash or "").strip().lower()
        self._clock = clock
        self._wrong = 0
        self._last_wrong = 0.0
        self._waiting = 0

    @property
    def usable(self) -> bool:
        """Whether the configured hash is one: 64 hexadecimal digits. Otherwise nobody is admitted."""
        return _HASH.fullmatch(self._hash) is not None

    async def matches(self, given: bytes | None) -> bool:
        """Return whether this is the password; when it is another, only after a while."""
        if not given or not self.usable:
            return False
        admitted = hmac.compare_digest(hashed(given).encode(), self._hash.encode()) and given.isascii()
        if not admitted:
            await self._slow_down()
        return admitted

    async def _slow_down(self) -> None:
        seconds = self._delay()
        if self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            await self._clock.sleep(seconds)
        finally:
            self._waiting -= 1

    def _delay(self) -> float:
        now = self._clock.monotonic()
        self._wrong = self._wrong + 1 if now - self._last_wrong < FORGOTTEN_AFTER else 1
        self._last_wrong = now
        return min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._wrong - 1, 10))


class AdminBearer(AdminPassword):
    """The owner's password as a bearer, for programs."""

    async def admits(self, request: Request) -> bool:
        """Return whether the request carries the password."""
        return await self.matches(bearer(request))


class AdminBasic(AdminPassword):
    """The owner's password by HTTP Basic under any name, for a browser (decision 42)."""

    async def admits(self, request: Request) -> bool:
        """Return whether the request carries the password."""
        return await self.matches(basic_password(request))


def hashed(password: bytes) -> str:
    """Return the hash by which a password is configured: SHA-256 in hexadecimal digits."""
    return hashlib.sha256(password).hexdigest()


def sendable(password: str) -> str:
    """Return an admin password as a bearer carries it, without the white space around it.

    Raises `Invalid` for one that can not travel in a header, or that programs would encode in different ways.
    """
    stripped = password.strip()
    if not is_header_text(stripped) or len(stripped) > _LONGEST:
        raise Invalid(f"The password must be 1 to {_LONGEST} printable ASCII characters: it travels in a header.")
    return stripped
