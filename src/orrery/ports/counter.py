"""The public counter as a visitor's browser gets it, as a port, for the monitor."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

Scope = Literal["site", "cosmos"]


@dataclass(frozen=True, slots=True)
class PublicCount:
    """One public read: `count` is `active` or `totalUnique`, `age_s` in seconds, `error` the spec's value."""

    count: int
    generated_at: datetime | None
    age_s: float | None
    stale: bool
    error: str | None


class Counter(Protocol):
    """Reads the public endpoints over the network."""

    async def read(self, scope: Scope) -> PublicCount | None:
        """Return the endpoint's count, or None when it cannot be reached or its answer has another form."""
        ...
