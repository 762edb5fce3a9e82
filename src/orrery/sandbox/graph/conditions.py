"""The conditions of `$filter`: parsed once, then asked of each item."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from orrery.sandbox.graph.errors import bad_query
from orrery.sandbox.state import Document

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')"
    r"|(?P<time>\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)"
    r"|(?P<number>-?\d+)"
    r"|(?P<name>[A-Za-z_@][\w.@]*(?:/[A-Za-z_][\w.]*)*)"
    r"|(?P<sign>[():,]))"
)
_LITERALS = {"true": True, "false": False, "null": None}
_FUNCTIONS: dict[str, Callable[[str, str], bool]] = {
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda text, part: part in text,
}

Getter = Callable[[str], Any]
"""Returns what an item has at a path such as `from/emailAddress/address`."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A property, an operator, and what it is compared with."""

    path: str
    operator: str
    value: object

    def holds(self, get: Getter) -> bool:
        found, value = _folded(get(self.path)), _folded(self.value)
        if self.operator in {"eq", "ne"}:
            return (found == value) == (self.operator == "eq")
        if found is None or value is None or type(found) is not type(value):
            return False
        low, high = cast("tuple[str, str]", (found, value))
        return {"gt": low > high, "ge": low >= high, "lt": low < high, "le": low <= high}[self.operator]

    def paths(self) -> Iterator[str]:
        yield self.path


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a property and a text."""

    name: str
    path: str
    part: str

    def holds(self, get: Getter) -> bool:
        found = get(self.path)
        return isinstance(found, str) and _FUNCTIONS[self.name](found.casefold(), self.part.casefold())

    def paths(self) -> Iterator[str]:
        yield self.path


@dataclass(frozen=True, slots=True)
class Several:
    """Conditions of which all or any must hold; one alone may be negated."""

    word: str
    conditions: "tuple[Condition, ...]"

    def holds(self, get: Getter) -> bool:
        found = (one.holds(get) for one in self.conditions)
        match self.word:
            case "and":
                return all(found)
            case "or":
                return any(found)
            case _:
                return not any(found)

    def paths(self) -> Iterator[str]:
        for one in self.conditions:
            yield from one.paths()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A condition that holds for one of a list's members at least."""

    path: str
    variable: str
    condition: "Condition"

    def holds(self, get: Getter) -> bool:
        members = cast("list[Document]", get(self.path) or [])
        return any(self.condition.holds(lambda path, one=one: at(one, self._inside(path))) for one in members)

    def paths(self) -> Iterator[str]:
        yield self.path

    def _inside(self, path: str) -> str:
        return path.removeprefix(f"{self.variable}/")


Condition = Comparison | Function | Several | AnyOf


def at(document: object, path: str) -> object:
    """Return what a document has at a path; None where there is nothing."""
    name, _, rest = path.partition("/")
    if not isinstance(document, dict):
        return None
    found = cast("Document", document).get(name)
    return at(found, rest) if rest else found


def conditions_of(condition: Condition) -> tuple[Condition, ...]:
    """Return the conditions that must all hold."""
    return condition.conditions if isinstance(condition, Several) and condition.word == "and" else (condition,)


def parsed(text: str) -> Condition:
    """Return the condition that a filter's text is."""
    parser = _Parser(text)
    condition = parser.alternatives()
    if parser.peek() is not None:
        raise parser.wrong()
    return condition


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        at_character, end = 0, len(text.rstrip())
        while at_character < end:
            found = _TOKEN.match(text, at_character)
            if found is None:
                raise bad_query(f"Syntax error at position {at_character} in '{text}'.")
            kind = found.lastgroup or ""
            self._tokens.append((kind, found[kind]))
            at_character = found.end()
        self._next = 0

    def peek(self) -> str | None:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else None

    def wrong(self) -> Exception:
        return bad_query(f"Syntax error at '{self.peek() or 'the end'}' in '{self._text}'.")

    def alternatives(self) -> Condition:
        return self._joined("or", lambda: self._joined("and", self._one))

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        found = [part()]
        while self.peek() == word:
            self._next += 1
            found.append(part())
        return found[0] if len(found) == 1 else Several(word, tuple(found))

    def _one(self) -> Condition:
        if self.peek() == "not":
            self._next += 1
            return Several("not", (self._one(),))
        if self.peek() == "(":
            return self._between(self.alternatives)
        name = self._take("name")
        if self.peek() == "(":
            return self._called(name)
        operator = self._take("name")
        if operator not in {"eq", "ne", "gt", "ge", "lt", "le"}:
            raise self.wrong()
        return Comparison(name, operator, self._literal())

    def _called(self, name: str) -> Condition:
        path, _, word = name.rpartition("/")
        if path and word.lower() == "any":
            return self._between(lambda: self._any_of(path))
        if name.lower() in _FUNCTIONS:
            return self._between(lambda: self._function(name.lower()))
        raise self.wrong()

    def _any_of(self, path: str) -> Condition:
        variable = self._take("name")
        self._expect(":")
        return AnyOf(path, variable, self.alternatives())

    def _function(self, name: str) -> Condition:
        path = self._take("name")
        self._expect(",")
        return Function(name, path, str(self._literal()))

    def _between(self, inside: Callable[[], Condition]) -> Condition:
        self._expect("(")
        found = inside()
        self._expect(")")
        return found

    def _literal(self) -> object:
        kind, text = self._tokens[self._next] if self._next < len(self._tokens) else ("", "")
        self._next += 1
        match kind:
            case "text":
                return text[1:-1].replace("''", "'")
            case "time":
                return _in_utc(text)
            case "number":
                return int(text)
            case "name" if text in _LITERALS:
                return _LITERALS[text]
            case _:
                self._next -= 1
                raise self.wrong()

    def _take(self, kind: str) -> str:
        if self._next >= len(self._tokens) or self._tokens[self._next][0] != kind:
            raise self.wrong()
        self._next += 1
        return self._tokens[self._next - 1][1]

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self.wrong()
        self._next += 1


def _folded(value: object) -> object:
    """Return a value as it is compared: texts without regard to capitals."""
    return value.casefold() if isinstance(value, str) else value


def _in_utc(text: str) -> str:
    """Return a time to the second in UTC, as items have it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_query(f"'{text}' is no time.") from error
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return f"{found.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
