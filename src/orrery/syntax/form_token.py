"""The token of a page's forms: it distinguishes a page of ours from any other, and nothing is stored of it."""

import hmac
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class FormTokens:
    """Makes the tokens under a key, one for each day in UTC, and knows them again on that day and the next."""

    key: bytes = field(repr=False)

    def of(self, day: datetime) -> str:
        """Return the token that forms have on a day."""
        return hmac.digest(self.key, f"form {day:%Y-%m-%d}".encode(), "sha256").hex()

    def have(self, given: str, now: datetime) -> bool:
        """Return whether a form that was shown today or yesterday has this token."""
        days = now, now - timedelta(days=1)
        return any(hmac.compare_digest(given.encode(), self.of(day).encode()) for day in days)
