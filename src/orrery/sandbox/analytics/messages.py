"""The request's JSON, read as the provider's parser reads it: by message types, refusing unknown fields."""

import json
import re
from dataclasses import dataclass
from typing import cast

from orrery.sandbox.analytics.errors import Refused
from orrery.sandbox.state import Document

_API = "type.googleapis.com/google.analytics.data.v1beta"
_INT = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A plain value; `name` is the parser's name of its type."""

    name: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of `values`, by name or by number."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """An object of the named type."""

    name: str


@dataclass(frozen=True, slots=True)
class Many:
    """A list."""

    of: "Scalar | Choice | Message"


Type = Scalar | Choice | Message | Many

_TEXT, _FLAG = Scalar("TYPE_STRING"), Scalar("TYPE_BOOL")
_INT32, _INT64 = Scalar("TYPE_INT32"), Scalar("TYPE_INT64")

_MATCH = Choice(
    "Filter.StringFilter.MatchType",
    (
        "MATCH_TYPE_UNSPECIFIED",
        "EXACT",
        "BEGINS_WITH",
        "ENDS_WITH",
        "CONTAINS",
        "FULL_REGEXP",
        "PARTIAL_REGEXP",
    ),
)
_OPERATION = Choice(
    "Filter.NumericFilter.Operation",
    (
        "OPERATION_UNSPECIFIED",
        "EQUAL",
        "LESS_THAN",
        "LESS_THAN_OR_EQUAL",
        "GREATER_THAN",
        "GREATER_THAN_OR_EQUAL",
    ),
)
_ORDER = Choice(
    "OrderBy.DimensionOrderBy.OrderType",
    ("ORDER_TYPE_UNSPECIFIED", "ALPHANUMERIC", "CASE_INSENSITIVE_ALPHANUMERIC", "NUMERIC"),
)
_AGGREGATION_VALUES = {0: "METRIC_AGGREGATION_UNSPECIFIED", 1: "TOTAL", 5: "MINIMUM", 6: "MAXIMUM", 4: "COUNT"}
_AGGREGATION = Choice("MetricAggregation", tuple(_AGGREGATION_VALUES.get(number, "") for number in range(7)))

MESSAGES: dict[str, dict[str, Type]] = {
    "RunRealtimeReportRequest": {
        "dimensions": Many(Message("Dimension")),
        "metrics": Many(Message("Metric")),
        "dimensionFilter": Message("FilterExpression"),
        "metricFilter": Message("FilterExpression"),
        "limit": _INT64,
        "metricAggregations": Many(_AGGREGATION),
        "orderBys": Many(Message("OrderBy")),
        "returnPropertyQuota": _FLAG,
        "minuteRanges": Many(Message("MinuteRange")),
    },
    "Dimension": {"name": _TEXT, "dimensionExpression": Message("DimensionExpression")},
    "DimensionExpression": {
        "lowerCase": Message("CaseExpression"),
        "upperCase": Message("CaseExpression"),
        "concatenate": Message("ConcatenateExpression"),
    },
    "CaseExpression": {"dimensionName": _TEXT},
    "ConcatenateExpression": {"dimensionNames": Many(_TEXT), "delimiter": _TEXT},
    "Metric": {"name": _TEXT, "expression": _TEXT, "invisible": _FLAG},
    "MinuteRange": {"name": _TEXT, "startMinutesAgo": _INT32, "endMinutesAgo": _INT32},
    "OrderBy": {
        "metric": Message("MetricOrderBy"),
        "dimension": Message("DimensionOrderBy"),
        "pivot": Message("PivotOrderBy"),
        "desc": _FLAG,
    },
    "MetricOrderBy": {"metricName": _TEXT},
    "DimensionOrderBy": {"dimensionName": _TEXT, "orderType": _ORDER},
    "PivotOrderBy": {"metricName": _TEXT, "pivotSelections": Many(Message("PivotSelection"))},
    "PivotSelection": {"dimensionName": _TEXT, "dimensionValue": _TEXT},
    "FilterExpression": {
        "andGroup": Message("FilterExpressionList"),
        "orGroup": Message("FilterExpressionList"),
        "notExpression": Message("FilterExpression"),
        "filter": Message("Filter"),
    },
    "FilterExpressionList": {"expressions": Many(Message("FilterExpression"))},
    "Filter": {
        "fieldName": _TEXT,
        "stringFilter": Message("StringFilter"),
        "inListFilter": Message("InListFilter"),
        "numericFilter": Message("NumericFilter"),
        "betweenFilter": Message("BetweenFilter"),
        "emptyFilter": Message("EmptyFilter"),
    },
    "StringFilter": {"matchType": _MATCH, "value": _TEXT, "caseSensitive": _FLAG},
    "InListFilter": {"values": Many(_TEXT), "caseSensitive": _FLAG},
    "NumericFilter": {"operation": _OPERATION, "value": Message("NumericValue")},
    "NumericValue": {"int64Value": _INT64, "doubleValue": Scalar("TYPE_DOUBLE")},
    "BetweenFilter": {"fromValue": Message("NumericValue"), "toValue": Message("NumericValue")},
    "EmptyFilter": {},
}
"""Every message of a realtime request, as the discovery document has them."""


def read(body: bytes) -> Document:
    """Return the request with its fields in camel case and its numbers as numbers; raise `Refused`."""
    try:
        given: object = json.loads(body or b"{}")
    except ValueError as error:
        raise Refused(400, f"Invalid JSON payload received. Unexpected token.\n{_snippet(body)}") from error
    if not isinstance(given, dict):
        raise Refused(400, 'Invalid JSON payload received. Unknown name "": Root element must be a message.')
    reader = _Reader()
    message = reader.message(Message("RunRealtimeReportRequest"), cast("Document", given), "")
    if reader.violations:
        raise reader.refusal()
    return message


def _snippet(body: bytes) -> str:
    lines = body.decode(errors="replace").splitlines()
    return f"{lines[0][:40] if lines else ''}\n^"


class _Reader:
    """Reads values and collects their faults, since the provider reports all at once."""

    def __init__(self) -> None:
        self.violations: list[tuple[str, str]] = []

    def refusal(self) -> Refused:
        described = [{"field": field, "description": text} for field, text in self.violations]
        details = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": described}
        return Refused(400, "\n".join(text for _, text in self.violations), [details])

    def message(self, kind: Message, given: Document, path: str) -> Document:
        fields = MESSAGES[kind.name] | {_snake(name): one for name, one in MESSAGES[kind.name].items()}
        found: Document = {}
        for name, value in given.items():
            if name not in fields:
                self._unknown(name, path)
            elif value is not None:
                found[_camel(name)] = self._value(fields[name], value, f"{path}.{_snake(name)}".lstrip("."))
        return found

    def _value(self, kind: Type, given: object, path: str) -> object:
        if isinstance(kind, Many):
            listed = cast("list[object]", given) if isinstance(given, list) else [given]
            return [self._value(kind.of, one, f"{path}[{number}]") for number, one in enumerate(listed)]
        if isinstance(kind, Message):
            if isinstance(given, dict):
                return self.message(kind, cast("Document", given), path)
            return self._wrong(path, f"{_API}.{kind.name}", given)
        if isinstance(kind, Choice):
            value = _chosen(kind, given)
            return value or self._wrong(path, f"{_API}.{kind.name}", given)
        value = _plain(kind.name, given)
        return self._wrong(path, kind.name, given) if value is None else value

    def _unknown(self, name: str, path: str) -> None:
        where = f" at '{path}'" if path else ""
        text = f'Invalid JSON payload received. Unknown name "{name[:100]}"{where}: Cannot find field.'
        self.violations.append((path, text))

    def _wrong(self, path: str, kind: str, given: object) -> None:
        self.violations.append((path, f"Invalid value at '{path}' ({kind}), {json.dumps(given)[:100]}"))


def _chosen(kind: Choice, given: object) -> str | None:
    if isinstance(given, str):
        return given if given and given in kind.values else None
    if isinstance(given, int) and 0 <= given < len(kind.values):
        return kind.values[given] or None
    return None


def _plain(kind: str, given: object) -> object:
    """Return a plain value, or None when it is not of this type; whole numbers may come as text."""
    if kind == "TYPE_STRING":
        return given if isinstance(given, str) else None
    if kind == "TYPE_BOOL":
        return given if isinstance(given, bool) else None
    if isinstance(given, bool):
        return None
    if kind == "TYPE_DOUBLE":
        return given if isinstance(given, (int, float)) else None
    is_whole = isinstance(given, (int, str)) and _INT.fullmatch(str(given))
    return int(str(given)) if is_whole else None


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)
