"""The realtime report: rows of the visitors' views."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orrery.sandbox.analytics.population import View
from orrery.sandbox.analytics.query import MinuteRange, Order, Query
from orrery.sandbox.state import Document

KIND = "analyticsData#runRealtimeReport"
_RANGE = "dateRange"
_TOTAL = "RESERVED_TOTAL"


@dataclass(frozen=True, slots=True)
class _Row:
    labels: tuple[str, ...]
    figures: tuple[int, ...]

    def as_json(self) -> Document:
        row: Document = {"metricValues": [{"value": str(figure)} for figure in self.figures]}
        return {"dimensionValues": [{"value": label} for label in self.labels]} | row if self.labels else row


def report(query: Query, views: Iterable[View]) -> Document:
    """Return the answer's body without its quota; nobody there is a body with `kind` only."""
    kept = [view for view in views if query.keeps(view)]
    rows = [row for minutes in query.ranges for row in _rows(query, minutes, kept)]
    if not rows:
        return {"kind": KIND}
    body: Document = {
        "metricHeaders": [{"name": name, "type": "TYPE_INTEGER"} for name in query.metrics],
        "rows": [row.as_json() for row in _ordered(query, rows)[: query.limit]],
        "rowCount": len(rows),
    }
    if headers := [*query.dimensions, *_range_header(query)]:
        body["dimensionHeaders"] = [{"name": name} for name in headers]
    if query.totals:
        body["totals"] = [row.as_json() for minutes in query.ranges for row in _total(query, minutes, kept)]
    return body | {"kind": KIND}


def _range_header(query: Query) -> list[str]:
    return [_RANGE] if len(query.ranges) > 1 else []


def _rows(query: Query, minutes: MinuteRange, views: Sequence[View]) -> Iterable[_Row]:
    groups: dict[tuple[str, ...], list[View]] = defaultdict(list)
    named = (minutes.name,) if len(query.ranges) > 1 else ()
    for view in views:
        if minutes.end <= int(view["minutesAgo"]) <= minutes.start:
            groups[tuple(view.get(name, "(not set)") for name in query.dimensions) + named].append(view)
    for labels, group in groups.items():
        yield _Row(labels, _figures(query, group))


def _total(query: Query, minutes: MinuteRange, views: Sequence[View]) -> Iterable[_Row]:
    """Yield the total of a range: nobody is counted twice in it, whichever rows they are in."""
    within = [view for view in views if minutes.end <= int(view["minutesAgo"]) <= minutes.start]
    named = (minutes.name,) if len(query.ranges) > 1 else ()
    yield _Row(tuple(_TOTAL for _ in query.dimensions) + named, _figures(query, within))


def _figures(query: Query, views: Sequence[View]) -> tuple[int, ...]:
    counted = {
        "activeUsers": len({view["visitor"] for view in views}),
        "screenPageViews": len(views),
        "eventCount": len(views),
        "keyEvents": 0,
    }
    return tuple(counted[name] for name in query.metrics)


def _ordered(query: Query, rows: Iterable[_Row]) -> list[_Row]:
    """Return the rows as asked; else by the first metric, most first."""
    ordered = sorted(rows, key=lambda row: row.labels)
    for order in reversed(query.orders or (Order(query.metrics[0], desc=True, kind=""),)):
        ordered.sort(key=lambda row, order=order: _sort_key(query, order, row), reverse=order.desc)
    return ordered


def _sort_key(query: Query, order: Order, row: _Row) -> tuple[float, str]:
    if order.column in query.metrics:
        return row.figures[query.metrics.index(order.column)], ""
    label = row.labels[query.dimensions.index(order.column)]
    if order.kind == "NUMERIC":
        return (float(label) if label.isdecimal() else -1.0), ""
    return 0.0, label.lower() if order.kind == "CASE_INSENSITIVE_ALPHANUMERIC" else label
