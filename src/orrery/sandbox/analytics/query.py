"""A checked realtime request: its metrics, its dimensions and its minutes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orrery.sandbox.analytics.errors import Refused, invalid, not_simulated
from orrery.sandbox.analytics.fields import THRESHOLDED, check_dimension, check_metric
from orrery.sandbox.analytics.filters import Keeps, everything, read_filter
from orrery.sandbox.analytics.messages import read
from orrery.sandbox.state import Document

MOST_DIMENSIONS, MOST_METRICS, MOST_ROWS, USUAL_ROWS = 9, 10, 250_000, 10_000
LAST_MINUTE, MOST_RANGES = 29, 2
"""How far back a standard property may look, and how many ranges a request may have."""

RESERVED = ("date_range_", "RESERVED_")
"""How no name of a range may begin (the discovery document, MinuteRange.name)."""


@dataclass(frozen=True, slots=True)
class MinuteRange:
    """Minutes ago, both inclusive."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Order:
    """By one column; `kind` says how a dimension's values are compared."""

    column: str
    desc: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Query:
    """One request."""

    dimensions: tuple[str, ...]
    metrics: tuple[str, ...]
    limit: int
    ranges: tuple[MinuteRange, ...]
    orders: tuple[Order, ...]
    keeps: Keeps
    totals: bool
    quota: bool

    @property
    def thresholded(self) -> bool:
        """Whether it uses the quota for requests that could identify single visitors."""
        return bool(THRESHOLDED & set(self.dimensions))


def read_query(body: bytes) -> Query:
    """Return the query of a request's body; raise `Refused`."""
    given = read(body)
    if "metricFilter" in given:
        raise not_simulated("metric_filter")
    dimensions = _names(given.get("dimensions", []), "dimensions", check_dimension, MOST_DIMENSIONS)
    metrics = _names(given.get("metrics", []), "metrics", check_metric, MOST_METRICS)
    if not metrics:
        raise not_simulated("a request without metrics")
    return Query(
        dimensions=dimensions,
        metrics=metrics,
        limit=_limit(given.get("limit", USUAL_ROWS)),
        ranges=tuple(_ranges(given.get("minuteRanges", [{}]))),
        orders=tuple(_orders(given.get("orderBys", []), dimensions, metrics)),
        keeps=read_filter(given["dimensionFilter"]) if given.get("dimensionFilter") else everything,
        totals=_totals(given.get("metricAggregations", [])),
        quota=given.get("returnPropertyQuota", False),
    )


def subject(body: bytes) -> str:
    """Return a request's breakdown for logs and faults: dimensions with commas, or `total`."""
    try:
        named = [one.get("name", "") for one in read(body).get("dimensions", [])]
    except Refused:
        return "unreadable"
    return ",".join(named) or "total"


def _names(given: list[Document], what: str, check: Callable[[str], None], most: int) -> tuple[str, ...]:
    if any(set(one) - {"name"} for one in given):
        raise not_simulated(f"expressions in {what}")
    names = tuple(one.get("name", "") for one in given)
    for name in names:
        check(name)
    if len(names) > most:
        raise invalid(f"Requests are limited to {most} {what}. This request is for {len(names)} {what}.")
    if len(set(names)) < len(names):
        raise invalid(f"Duplicate {what} are not allowed.")
    return names


def _limit(limit: int) -> int:
    if limit < 0:
        raise invalid("The limit must be positive.")
    return min(limit or USUAL_ROWS, MOST_ROWS)


def _ranges(given: list[Document]) -> Iterable[MinuteRange]:
    if len(given) > MOST_RANGES:
        raise invalid(f"Requests are limited to {MOST_RANGES} minuteRanges. This request is for {len(given)}.")
    for number, one in enumerate(given or [{}]):
        start, end = one.get("startMinutesAgo", LAST_MINUTE), one.get("endMinutesAgo", 0)
        if not 0 <= end <= start <= LAST_MINUTE:
            raise invalid(
                f"Invalid minuteRanges[{number}]: startMinutesAgo {start} and endMinutesAgo {end} must be between "
                f"0 and {LAST_MINUTE} for this property, and the start not after the end."
            )
        if one.get("name", "").startswith(RESERVED):
            raise invalid(f"Invalid minuteRanges[{number}]: a name cannot begin with {' or '.join(RESERVED)}.")
        yield MinuteRange(one.get("name") or f"date_range_{number}", start, end)


def _orders(given: list[Document], dimensions: tuple[str, ...], metrics: tuple[str, ...]) -> Iterable[Order]:
    for one in given:
        if "pivot" in one:
            raise not_simulated("order_bys by pivot")
        dimension = one.get("dimension", {})
        column = dimension.get("dimensionName") or one.get("metric", {}).get("metricName", "")
        if column not in (dimensions if dimension else metrics):
            raise invalid(f"Ordering by {column} is only possible when the request asks for it.")
        yield Order(column, one.get("desc", False), dimension.get("orderType", "ALPHANUMERIC"))


def _totals(given: list[str]) -> bool:
    if others := set(given) - {"TOTAL"}:
        raise not_simulated(f"the metric aggregation {min(others)}")
    return bool(given)
