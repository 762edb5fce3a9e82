"""Bearer and basic credentials, compared in constant time."""

import base64
import binascii
import hmac
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from orrery.edge.problem import Problem
from orrery.edge.rate_limit import Limit, RateLimit, SharedCount, too_many
from orrery.errors import StoreError
from orrery.ports.clock import Clock
from orrery.syntax.admin_password import LONGEST, hashed
from orrery.syntax.form_token import FormTokens

if TYPE_CHECKING:
    from starlette.requests import Request

FIRST_DELAY, LONGEST_DELAY = 0.25, 4.0
"""Seconds that a wrong admin password waits for its answer: the first one, and each after a few of them."""

FORGOTTEN_AFTER = 60.0
"""Seconds without a wrong admin password after which the next one is the first again."""

MOST_GUESSES = 30
"""How many wrong ones are checked in any minute, over all senders; later ones get a 429."""

_GUESSES = "guesses"
"""The one scope of them all."""

_HASH = re.compile(r"[0-9a-f]{64}")


def bearer(request: "Request") -> bytes | None:
    """Return the bearer token as bytes, or None when it is missing or too long."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not 0 < len(token) <= LONGEST:
        return None
    return token.strip().encode("latin-1", "replace")


class GuessLimiter:
    """Delays answers to wrong passwords or tokens, longer with each, and checks only `MOST_GUESSES` a minute.

    With `shared`, it counts those of all nodes and of before a restart; where the store fails, those of this node.
    """

    def __init__(self, clock: Clock, shared: SharedCount | None = None) -> None:
        self._clock = clock
        self._shared = shared
        self._limit = RateLimit(clock, Limit(MOST_GUESSES, FORGOTTEN_AFTER))
        self._count = 0
        self._last = 0.0

    async def slow_down(self) -> None:
        """Return after a while; raise 429 at once for one too many in a minute, so that none fills the memory."""
        wait, in_a_row = self._limit.wait(_GUESSES), self._in_a_row()
        if self._shared and not wait:
            with suppress(StoreError):
                wait, in_a_row = await self._shared.add([_GUESSES], self._limit.longest_wait)
        if wait:
            raise too_many(wait, "Too many were wrong: try again in {wait} s.")
        await self._clock.sleep(min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(in_a_row - 1, 10)))

    def _in_a_row(self) -> int:
        now = self._clock.monotonic()
        self._count = self._count + 1 if now - self._last < FORGOTTEN_AFTER else 1
        self._last = now
        return self._count


class ServiceBearer:
    """The practice site's token, of which several hold during a rotation. Wrong ones are slowed down."""

    def __init__(self, tokens: Sequence[bytes], clock: Clock) -> None:
        self._tokens = [token for token in tokens if token]
        self._wrong = GuessLimiter(clock)

    async def require(self, request: "Request") -> None:
        """Raise 503 when no token is configured, and 401 or 429 unless the request carries one of them."""
        if not self._tokens:
            raise Problem(503, "not-configured", "This part has no token configured.")
        given = bearer(request)
        # Each is compared, so that the time taken does not reveal which one matched.
        matches = [given is not None and hmac.compare_digest(given, token) for token in self._tokens]
        if any(matches):
            return
        if given:
            await self._wrong.slow_down()
        raise Problem(401, "unauthorized", "A valid bearer token is needed.", {"WWW-Authenticate": "Bearer"})


def basic_password(request: "Request") -> bytes | None:
    """Return the password of HTTP Basic as bytes, or None when it is missing or too long."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic" or len(encoded) > LONGEST:
        return None
    try:
        return base64.b64decode(encoded, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return None


class AdminPassword:
    """The owner's password, whose SHA-256 is configured (spec 2, Authentication 2).

    Answers to wrong ones are delayed; a right one never waits, however many others are wrong. So a delay reveals
    that a guess was wrong: against many parallel guesses only the length of the password helps.
    """

    def __init__(self, password_hash: str | None, wrong: GuessLimiter) -> None:
        """`wrong` is shared by all doors that the password opens."""
        self._hash = (password_hash or "").strip().lower()
        self._wrong = wrong

    @property
    def usable(self) -> bool:
        """Whether the configured hash has 64 hexadecimal digits. Otherwise every password is refused."""
        return _HASH.fullmatch(self._hash) is not None

    async def matches(self, given: bytes | None) -> bool:
        """Return whether this is the password; when it is another, only after a while, or raise 429."""
        if not given or not self.usable:
            return False
        admitted = self.is_password(given) and given.isascii()
        if not admitted:
            await self._wrong.slow_down()
        return admitted

    def is_password(self, given: bytes) -> bool:
        """Return at once whether this is the password: for the owner's own commands, who can read the hash."""
        return hmac.compare_digest(hashed(given).encode(), self._hash.encode())


class AdminBearer(AdminPassword):
    """The owner's password as a bearer, for programs."""

    async def admits(self, request: "Request") -> bool:
        """Return whether the request carries the password."""
        return await self.matches(bearer(request))


class AdminBasic(AdminPassword):
    """The owner's password by HTTP Basic under any name, for a browser (decision 42)."""

    async def admits(self, request: "Request") -> bool:
        """Return whether the request carries the password."""
        return await self.matches(basic_password(request))

    @property
    def forms(self) -> FormTokens:
        """The tokens of the page's forms, which no other site knows; a new password has others."""
        return FormTokens(self._hash.encode())


def is_from_own_page(request: "Request") -> bool:
    """Return whether, by its browser, a page of this listener sends it; an old browser sends only `Origin`."""
    sites, origins = request.headers.getlist("sec-fetch-site"), request.headers.getlist("origin")
    own = f"http://{request.headers.get('host')}"
    return sites == ["same-origin"] if sites else origins == [own]
