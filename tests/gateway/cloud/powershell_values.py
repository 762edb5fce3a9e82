"""The values of PowerShell that the runbook uses, and how they are converted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.gateway.cloud.powershell_tree import Unsupported

Value = object


@dataclass(frozen=True)
class Properties:
    """An object with properties."""

    values: Mapping[str, Value]


def single(values: Sequence[Value]) -> Value:
    """Return the one value that was written, or nothing."""
    if len(values) > 1:
        raise Unsupported("several values")
    return values[0] if values else None


def unescaped(raw: bytes) -> str:
    """Return a text between the variables of a string; of escapes only the doubled grave accent is known."""
    text = raw.decode()
    if "`" in text.replace("``", ""):
        raise Unsupported(text)
    return text.replace("``", "`")


def as_text(value: Value) -> str:
    """Return a value as text."""
    if isinstance(value, Properties):
        return "System.Object"  # what many objects are as text: nothing of what is in them
    if value is None or isinstance(value, str | int):
        return "" if value is None else str(value)
    raise Unsupported(f"text of {value!r}")


def as_integer(value: Value) -> int:
    """Return a value as a number."""
    if value is None or isinstance(value, str | int):
        return int(value or 0)
    raise Unsupported(f"number of {value!r}")


def as_truth(value: Value) -> bool:
    """Return whether a value counts as true."""
    if value is None or isinstance(value, bool | int | str | Properties):
        return bool(value)
    raise Unsupported(f"truth of {value!r}")


def are_equal(one: Value, other: Value) -> bool:
    """Return whether `-eq` holds; the right value is converted to the type of the left."""
    if one is None or other is None:
        return one is other
    if isinstance(one, int):
        return one == as_integer(other)
    return as_text(one).lower() == as_text(other).lower()
