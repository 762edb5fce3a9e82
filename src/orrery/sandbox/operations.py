"""The operations of a vendor as the rows of one table, and what finds the row of a request."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

Run = TypeVar("Run")


@dataclass(frozen=True, slots=True)
class Operation(Generic[Run]):
    """`path` has `{names}`, of which `{scope}` is several words, and `{id}` may be there twice.

    `right` are those of which a caller must hold one. Faults name the row by its path, or by `name`.
    """

    method: str
    path: str
    run: Run
    right: tuple[str, ...] = ()
    name: str = ""

    @property
    def call(self) -> str:
        """The name by which faults and lists of requests have it."""
        return f"{self.method} {self.name or self.path}"


def matched(
    operations: Sequence[Operation[Run]], method: str, path: str
) -> tuple[Operation[Run], re.Match[str]] | None:
    """Return the first row that a request is for, whatever its capitals, with what its path has for the names."""
    for operation in operations:
        if operation.method == method and (match := _pattern(operation.path).fullmatch(path)):
            return operation, match
    return None


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("".join(_group(part) for part in re.split(r"(\{\w+\})", path)), re.IGNORECASE)


def _group(part: str) -> str:
    if not part.startswith("{"):
        return re.escape(part)
    known = {"{id}": "([^/]+)", "{scope}": "(?P<scope>/.+)"}
    return known.get(part, f"(?P<{part[1:-1]}>[^/]+)")
