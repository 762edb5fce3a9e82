"""Whether a form that a browser sent was on a page of ours (facts, Gate and cookie)."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from orrery.ports.clock import Clock

_OURS = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class Forms:
    """Judges the forms of the hosted pages. `origins` are those of the sites."""

    clock: Clock
    origins: Collection[str]
    key: bytes = field(repr=False)

    @classmethod
    def of_store(cls, store_key: bytes, clock: Clock, origins: Collection[str]) -> "Forms":
        """Return those under a key derived from the store's own, which has other uses too."""
        return cls(clock, origins, hmac.digest(store_key, b"orrery tokens of forms", "sha256"))

    def token(self) -> str:
        """Return the token that forms have today, in UTC."""
        return self._token_of(self.clock.now())

    def are_own(self, headers: Mapping[str, str], token: str) -> bool:
        """Return whether a form came from a page of ours, by the headers of its request and its token.

        The browser decides by `Sec-Fetch-Site`. Where it sends none, and `null` as the origin, because our pages
        have no referrer, the token decides: it distinguishes a page of ours from any other, and not one reader of
        ours from another. What a form opens is decided by its own link.
        """
        origin = headers.get("origin", "null")
        if came := headers.get("sec-fetch-site"):
            return came in _OURS
        return self._is_token(token) if origin == "null" else origin in self.origins

    def _is_token(self, token: str) -> bool:
        """Return whether a form that was shown today or yesterday has this token."""
        days = self.clock.now(), self.clock.now() - timedelta(days=1)
        return any(hmac.compare_digest(token.encode(), self._token_of(day).encode()) for day in days)

    def _token_of(self, day: datetime) -> str:
        return hmac.digest(self.key, f"{day:%Y-%m-%d}".encode(), "sha256").hex()[:32]
