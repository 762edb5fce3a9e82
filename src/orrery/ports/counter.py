"""The public counter as a visitor's browser sees it, as a port: what the monitor looks at."""

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
        """Return what the endpoint says, or None when it cannot be reached or says something else."""
        ...
