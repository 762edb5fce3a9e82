"""The configuration of the analytics provider."""

from dataclasses import dataclass, field

TOKEN_PATH = "/analytics/token"  # noqa: S105  a path, no token
"""Where tokens are minted, below the sandbox's address."""

VENDORS_TOKEN_PATH = "/token"  # noqa: S105  a path, no token
"""Where the vendor mints them, for a sandbox that is served under the vendor's name."""


@dataclass(frozen=True, slots=True)
class AnalyticsConfig:
    """One property and the one service account that may read it.

    `public_key` is PEM. The sizes are those under which the specification's 1,750 tokens an hour are 35 percent
    (spec 2, Limits); `visitors` are there when nothing else was kept.
    """

    property_id: str
    client_email: str
    public_key: str = field(repr=False)
    tokens_per_day: int = 25_000
    tokens_per_hour: int = 5_000
    tokens_per_project_per_hour: int = 1_750
    visitors: int = 24
