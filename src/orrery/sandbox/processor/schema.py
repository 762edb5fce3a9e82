"""Describing request parameters compactly, and reading a parsed form by such a description."""

from dataclasses import dataclass

from orrery.sandbox.processor.errors import invalid, missing_parameter, unknown_parameter
from orrery.sandbox.processor.forms import Form
from orrery.sandbox.state import Document

_WHOLE_DIGITS = 18
MAX_LABEL_VALUE = 500
"""The vendor's published limit of a value of `metadata`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string; `limit` counts code points."""

    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer."""


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a set of values; `beyond` are those that the published contract does not have."""

    values: tuple[str, ...]
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Many:
    """A list."""

    item: "Kind"


@dataclass(frozen=True, slots=True)
class Labels:
    """Free names with string values: `metadata`."""


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """A parameter that this account may not send, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A map of named parameters.

    With `or_whole` an integer may stand in its place, read as the map's field of that name.
    """

    fields: dict[str, "Kind"]
    required: frozenset[str] = frozenset()
    or_whole: str | None = None


Kind = Text | Whole | Flag | Choice | Many | Labels | NotAllowed | Shape


def shape(required: str = "", **fields: Kind) -> Shape:
    """Describe a map; `required` are names separated by spaces."""
    return Shape(fields, frozenset(required.split()))


def choice(values: str, *, beyond: str = "") -> Choice:
    """Describe a set of values separated by spaces."""
    return Choice(tuple(values.split()), tuple(beyond.split()))


def read_parameters(kind: Shape, form: dict[str, Form]) -> Document:
    """Return the typed parameters, or raise the vendor's refusal of the first that is wrong."""
    return _read_shape(kind, form, "")


def _read(kind: Kind, value: Form, name: str) -> object:  # noqa: PLR0911  one return a kind reads best
    match kind:
        case Shape():
            return _read_shape(kind, value, name)
        case Many():
            return _read_list(kind, value, name)
        case Labels():
            return _read_labels(value, name)
        case Text():
            return _read_text(kind, value, name)
        case Whole():
            return _read_whole(_scalar(value, name), name)
        case Flag():
            return _read_flag(_scalar(value, name), name)
        case Choice():
            return _read_choice(kind, _scalar(value, name), name)
        case NotAllowed():
            raise invalid(kind.reason, name)


def _read_shape(kind: Shape, value: Form, name: str) -> Document:
    if isinstance(value, str) and kind.or_whole is not None:
        return {kind.or_whole: _read_whole(value, name)}
    if not isinstance(value, dict):
        raise invalid("Invalid object", name)
    for key in value:
        if key not in kind.fields:
            raise unknown_parameter(_inside(name, key))
    for key in sorted(kind.required):
        if key not in value:
            raise missing_parameter(_inside(name, key))
    return {key: _read(kind.fields[key], below, _inside(name, key)) for key, below in value.items()}


def _inside(name: str, key: str) -> str:
    return f"{name}[{key}]" if name else key


def _read_list(kind: Many, value: Form, name: str) -> list[object]:
    if not isinstance(value, list):
        raise invalid("Invalid array", name)
    return [_read(kind.item, below, f"{name}[{number}]") for number, below in enumerate(value)]


def _read_labels(value: Form, name: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise invalid("Invalid object", name)
    return {key: _label(below, _inside(name, key)) for key, below in value.items()}


def _label(value: Form, name: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_LABEL_VALUE:
        raise invalid(f"Metadata values are strings of at most {MAX_LABEL_VALUE} characters.", name)
    return value


def _scalar(value: Form, name: str) -> str:
    if not isinstance(value, str):
        raise invalid("Invalid string", name)
    if value == "":
        raise invalid(
            f"You passed an empty string for '{name}', which cannot be unset.", name, "parameter_invalid_empty"
        )
    return value


def _read_text(kind: Text, value: Form, name: str) -> str:
    text = _scalar(value, name)
    if kind.limit is not None and len(text) > kind.limit:
        message = f"Invalid string: {text[:12]}...; must be at most {kind.limit} characters"
        raise invalid(message, name, "parameter_invalid_string_length")
    return text


def _read_whole(text: str, name: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _WHOLE_DIGITS:
        raise invalid(f"Invalid integer: {text[:40]}", name, "parameter_invalid_integer")
    return int(text)


def _read_flag(text: str, name: str) -> bool:
    if text not in ("true", "false"):
        raise invalid(f"Invalid boolean: {text[:40]}", name)
    return text == "true"


def _read_choice(kind: Choice, text: str, name: str) -> str:
    if text not in kind.values + kind.beyond:
        raise invalid(f"Invalid {name}: must be one of {', '.join(kind.values)}", name)
    return text
