"""The analytics provider, as a port: how many people are on the sites now."""

from dataclasses import dataclass
from typing import Literal, Protocol

from orrery.errors import OrreryError

Cause = Literal[
    "concurrent",
    "hour",
    "day",
    "thresholded",
    "unauthorized",
    "forbidden",
    "refused",
    "server",
    "unreachable",
    "not-a-report",
]
"""Why there is no report. The first four are exhausted quotas; `refused` is a request that cannot succeed."""


class AnalyticsFailed(OrreryError):
    """The analytics provider gave no report within the deadline.

    `cause` is the caller's next decision (decision 25), `status` the HTTP status where there was one.
    """

    def __init__(self, message: str, *, cause: Cause, status: int | None = None) -> None:
        super().__init__(message)
        self.cause: Cause = cause
        self.status = status


By = Literal["page", "planet"]
"""The breakdowns of a count: by the screen's name, or by the site of the family (decisions 22, 23)."""


@dataclass(frozen=True, slots=True)
class QuotaState:
    """One quota: how much this request used, and how much is left."""

    consumed: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Quotas:
    """The property's quotas in a report, in tokens except `server_errors`; None when a report has no figure."""

    day: QuotaState | None = None
    hour: QuotaState | None = None
    project_hour: QuotaState | None = None
    server_errors: QuotaState | None = None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """How many users one label has; `label` is empty in a report that is not broken down."""

    label: str
    users: int


@dataclass(frozen=True, slots=True)
class UserReport:
    """The provider's counts. No rows is a true zero (decision 21).

    A report that is not broken down has one row or none. The rows of another one must never be summed: a visitor
    on two pages is in both.
    """

    rows: tuple[ReportRow, ...]
    quotas: Quotas | None = None

    @property
    def total(self) -> int:
        """Return the users of a report that is not broken down."""
        return self.rows[0].users if self.rows else 0


class Analytics(Protocol):
    """Counts active users in real time. Every call costs quota."""

    async def active_users(self, by: By | None = None, *, limit: int | None = None, deadline: float) -> UserReport:
        """Return the users of now, in all, or by `by`, most users first, at most `limit` rows.

        `deadline` is in seconds and bounds the whole call. Raises `AnalyticsFailed`, or `NotConfigured` while the
        key or the property is missing.
        """
        ...

    async def check(self) -> None:
        """Return if the credentials are accepted, at no cost of quota; raise as `active_users` does."""
        ...
