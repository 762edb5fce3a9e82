"""Filters on dimensions: texts and lists, and groups of them."""

from collections.abc import Callable

from orrery.sandbox.analytics.errors import invalid, not_simulated
from orrery.sandbox.analytics.fields import check_dimension
from orrery.sandbox.analytics.population import View
from orrery.sandbox.state import Document

Keeps = Callable[[View], bool]
"""Returns whether a view is in the report."""


def everything(_: View) -> bool:
    return True


def read_filter(expression: Document) -> Keeps:
    """Return the condition of a filter expression; raise `Refused`."""
    if len(expression) != 1:
        raise invalid("A filter expression has exactly one of and_group, or_group, not_expression and filter.")
    [(name, given)] = expression.items()
    if name == "notExpression":
        inner = read_filter(given)
        return lambda view: not inner(view)
    if name == "filter":
        return _primitive(given)
    if not given.get("expressions"):
        raise invalid("A group of filter expressions has at least one expression.")
    parts = [read_filter(one) for one in given["expressions"]]
    together = all if name == "andGroup" else any
    return lambda view: together(part(view) for part in parts)


def _primitive(given: Document) -> Keeps:
    field = given.get("fieldName", "")
    check_dimension(field)
    matches = _matcher({name: one for name, one in given.items() if name != "fieldName"})
    return lambda view: matches(view.get(field, "(not set)"))


def _matcher(given: Document) -> Callable[[str], bool]:
    if set(given) == {"stringFilter"}:
        return _text(given["stringFilter"])
    if set(given) == {"inListFilter"}:
        return _listed(given["inListFilter"])
    if set(given) == {"emptyFilter"}:
        return lambda value: value in ("", "(not set)")
    raise not_simulated("filters other than string_filter, in_list_filter and empty_filter")


def _listed(given: Document) -> Callable[[str], bool]:
    fold = _folding(given)
    values = {fold(value) for value in given.get("values", [])}
    return lambda value: fold(value) in values


def _text(given: Document) -> Callable[[str], bool]:
    fold, kind = _folding(given), given.get("matchType", "EXACT")
    wanted = fold(given.get("value", ""))
    ways: dict[str, Callable[[str], bool]] = {
        "EXACT": lambda value: fold(value) == wanted,
        "BEGINS_WITH": lambda value: fold(value).startswith(wanted),
        "ENDS_WITH": lambda value: fold(value).endswith(wanted),
        "CONTAINS": lambda value: wanted in fold(value),
    }
    if kind not in ways:
        raise not_simulated(f"the match type {kind}")
    return ways[kind]


def _folding(given: Document) -> Callable[[str], str]:
    return str if given.get("caseSensitive") else str.lower
