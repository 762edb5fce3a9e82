"""The metrics of a refresh: each has its own query and its own key (spec 2, Refresh 5).

To add one: name it here, give it a key in `keys`, a record in `records` and, for a new breakdown, a value in the
analytics port. docs/how-to/add-a-live-metric.md has the steps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from orrery.live import keys
from orrery.live.records import Active, PageCount, Pages
from orrery.ports.analytics import By, ReportRow, UserReport
from orrery.record import Record

PAGES_AT_MOST = 25
"""Decision 22."""

TITLE_AT_MOST = 300
"""Characters of a page's title that are kept: anyone who sends events to the provider chooses the title."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One independent query: its name, the key of its value, and the function from a report to the value."""

    name: str
    key: str
    value: Callable[[UserReport, datetime], Record]
    by: By | None = None
    limit: int | None = None


TOTAL = "total"
"""The name of the query that is always first: no other one may use up its quota (decision 24)."""


def total(window_minutes: int) -> Metric:
    """Return the total over the last `window_minutes`."""

    def value(report: UserReport, at: datetime) -> Active:
        return Active(active=report.total, generated_at=at, window_minutes=window_minutes)

    return Metric(TOTAL, keys.ACTIVE, value)


def pages(paths: Mapping[str, str]) -> Metric:
    """Return the page breakdown; `paths` is the site's own index of titles (decision 22)."""

    def value(report: UserReport, at: datetime) -> Pages:
        most = sorted(report.rows, key=lambda row: -row.users)[:PAGES_AT_MOST]
        return Pages(pages=tuple(listed(row) for row in most), generated_at=at)

    def listed(row: ReportRow) -> PageCount:
        return PageCount(page=row.label[:TITLE_AT_MOST], path=paths.get(row.label), users=row.users)

    return Metric("pages", keys.PAGES, value, by="page", limit=PAGES_AT_MOST)


def metrics(paths: Mapping[str, str], window_minutes: int) -> Sequence[Metric]:
    """Return everything that a refresh counts, the total first."""
    return [total(window_minutes), pages(paths)]
