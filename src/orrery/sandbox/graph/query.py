"""The `$filter` and the `$expand` that we send."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from orrery.sandbox.graph.call import refusal
from orrery.sandbox.ground import Document

_COMPARISON = re.compile(
    r"\s*([A-Za-z][\w/]*) (eq|ge|gt|le|lt) (?:'((?:[^']|'')*)'|([\w.:+-]+))\s*(?:(and|or) |$)"
)
_ANY = re.compile(r"\s*(\w+)/any\(\s*(\w+):\s*(.*)\)\s*", re.IGNORECASE | re.DOTALL)
_LITERALS = {"true": True, "false": False}

Getter = Callable[[str], Any]
"""Returns what an item has at a path such as `from/emailAddress`."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A property, an operator, and what it is compared with: texts without regard to capitals, times in UTC."""

    path: str
    operator: str
    value: str | bool

    def holds(self, get: Getter) -> bool:
        found, value = _folded(get(self.path)), _folded(self.value)
        if self.operator == "eq" or type(found) is not type(value):
            return found == value
        low, high = cast("tuple[str, str]", (found, value))
        return {"gt": low > high, "ge": low >= high, "lt": low < high, "le": low <= high}[self.operator]


@dataclass(frozen=True, slots=True)
class Condition:
    """Comparisons of which all must hold (`and`), or any; of one member of the list `within`, if there is one."""

    word: str
    comparisons: Sequence[Comparison]
    within: str = ""

    def holds(self, get: Getter) -> bool:
        if self.within:
            members = cast("list[Document]", get(self.within) or [])
            return any(self._of(lambda path, one=one: value_at(one, path)) for one in members)
        return self._of(get)

    def paths(self) -> list[str]:
        """Return the properties of an item that are asked for, in their order."""
        return [self.within] if self.within else list(dict.fromkeys(one.path for one in self.comparisons))

    def _of(self, get: Getter) -> bool:
        found = (one.holds(get) for one in self.comparisons)
        return any(found) if self.word == "or" else all(found)


def value_at(document: object, path: str) -> object:
    """Return what a document has at a path; None where there is nothing."""
    for name in path.split("/"):
        document = cast("Document", document).get(name) if isinstance(document, dict) else None
    return document


def parsed_filter(text: str) -> Condition:
    """Return the condition that a filter's text is."""
    if (listed := _ANY.fullmatch(text)) is not None:
        inner = parsed_filter(listed[3].replace(f"{listed[2]}/", ""))
        return Condition(inner.word, inner.comparisons, listed[1])
    found: list[re.Match[str]] = []
    while not found or found[-1].end() < len(text):
        match = _COMPARISON.match(text, found[-1].end() if found else 0)
        if match is None or len({one[5] for one in found}) > 1:
            raise refusal("bad_query", f"The sandbox does not read the filter '{text}'.")
        found.append(match)
    word = found[0][5] or "and"
    return Condition(word, [Comparison(one[1], one[2], _value(one[3], one[4])) for one in found])


def _value(text: str | None, other: str) -> str | bool:
    if text is not None:
        return text.replace("''", "'")
    return _LITERALS[other] if other in _LITERALS else _in_utc(other)


def _folded(value: object) -> object:
    return value.casefold() if isinstance(value, str) else value


def _in_utc(text: str) -> str:
    """Return a time to the second in UTC, as items have it."""
    found = datetime.fromisoformat(text)
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return f"{found.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


EXTENDED = "singleValueExtendedProperties"
_GUID = r"\{[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}"
_EXPANSION = re.compile(rf"\s*{EXTENDED}\s*\(\s*\$filter\s*=\s*(.+)\)\s*", re.DOTALL)


def given_properties(body: Document) -> dict[str, str]:
    """Return the properties that a body sets, by their ids; the GUID in an id is kept in lower case."""
    found: dict[str, str] = {}
    for one in cast("list[Document]", body.get(EXTENDED) or []):
        name = str(one.get("id", ""))
        found[re.sub(_GUID, lambda guid: guid[0].lower(), name)] = str(one.get("value", ""))
    return found


def expanded_properties(text: str, properties: Mapping[str, str]) -> Document:
    """Return what `$expand` adds to a message: nothing where it has none of the properties."""
    if not text:
        return {}
    asked = _EXPANSION.fullmatch(text)
    if asked is None:
        raise refusal("bad_query", f"$expand takes {EXTENDED}($filter=id eq '...') here, not '{text}'.")
    condition = parsed_filter(asked[1])
    shown = [{"id": name, "value": value} for name, value in properties.items()]
    found = [one for one in shown if condition.holds(lambda path, one=one: value_at(one, path))]
    return {EXTENDED: found} if found else {}


def needs_names(condition: Condition) -> bool:
    """Return whether a filter asks for extended properties."""
    return condition.within == EXTENDED
