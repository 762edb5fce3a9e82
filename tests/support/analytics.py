"""An analytics provider in memory, as a test sets it: an adapter of the port."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from anyio.lowlevel import checkpoint

from orrery.errors import NotConfigured
from orrery.ports.analytics import AnalyticsFailed, By, Cause, Quotas, ReportRow, UserReport


def failure(cause: Cause, status: int | None = None) -> AnalyticsFailed:
    """Return what a provider raises that gives no report."""
    return AnalyticsFailed(f"The provider said {cause}.", cause=cause, status=status)


@dataclass
class MemoryAnalytics:
    """`visitors` people on the sites; `fails` holds what is raised for each breakdown (None is the total).

    `meanwhile` runs during each call, as other processes do. `calls` counts them by breakdown.
    """

    visitors: int = 12
    pages: dict[str, int] = field(default_factory=lambda: {"Home": 9, "Shop": 7})
    planets: dict[str, int] = field(default_factory=lambda: {"Northwind": 8, "Tideline": 4})
    quotas: Quotas | None = None
    fails: dict[By | None, AnalyticsFailed | NotConfigured] = field(
        default_factory=dict["By | None", "AnalyticsFailed | NotConfigured"]
    )
    meanwhile: Callable[[], Awaitable[object]] = checkpoint
    calls: Counter[By | None] = field(default_factory=Counter["By | None"])
    deadlines: set[float] = field(default_factory=set[float])

    async def active_users(self, by: By | None = None, *, limit: int | None = None, deadline: float) -> UserReport:
        """Count, or fail."""
        self.calls[by] += 1
        self.deadlines.add(deadline)
        await self.meanwhile()
        if by in self.fails:
            raise self.fails[by]
        return UserReport(self._rows(by)[:limit], self.quotas)

    async def check(self) -> None:
        """Accept."""

    def _rows(self, by: By | None) -> tuple[ReportRow, ...]:
        if by is None:
            return (ReportRow("", self.visitors),) if self.visitors else ()
        counts = self.pages if by == "page" else self.planets
        return tuple(ReportRow(label, users) for label, users in counts.items())
