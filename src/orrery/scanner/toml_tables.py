"""The tables of a file of rules or of a baseline: each key is read once, by its type; others are refused.

A message names the file, the table and the key, and no value: rules may show what somebody's secrets look like.
"""

import re
import tomllib
from collections.abc import Callable
from datetime import date
from typing import cast

from orrery.errors import Invalid

_POSITION = re.compile(r"\(at [a-z0-9 ,]+\)")


class Table:
    """One table. Its keys are the same in upper and lower case, as they are for gitleaks."""

    def __init__(self, where: str, values: dict[str, object]) -> None:
        self.where = where
        self._values = {key.lower(): value for key, value in values.items()}
        self._has_twins = len(self._values) < len(values)

    def refusal(self, sentence: str) -> Invalid:
        """Return the error that names the place."""
        return Invalid(f"{self.where} {sentence}")

    def text(self, key: str) -> str:
        """Return a string, which is empty if it is missing."""
        return cast("str", self._taken(key, "", "a string", lambda one: isinstance(one, str)))

    def number(self, key: str) -> float:
        """Return a number from 0, which is 0 if it is missing."""
        return cast("float", self._taken(key, 0.0, "a number from 0", lambda one: _is_number(one, int, float)))

    def count(self, key: str) -> int | None:
        """Return a whole number from 0, or None."""
        return cast(
            "int | None",
            self._taken(key, None, "a whole number from 0", lambda one: one is None or _is_number(one, int)),
        )

    def flag(self, key: str) -> bool:
        """Return true or false, which is false if it is missing."""
        return cast("bool", self._taken(key, False, "true or false", lambda one: isinstance(one, bool)))  # noqa: FBT003  a value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        return tuple(cast("list[str]", self._taken(key, [], "a list of strings", lambda one: _are(str, one))))

    def day(self, key: str) -> date | None:
        """Return a day, or None."""
        found = self._taken(key, None, "a day, as 2027-01-31", lambda one: one is None or type(one) is date)
        return cast("date | None", found)

    def table(self, key: str) -> "Table | None":
        """Return a table in this one, or None."""
        found = self._taken(key, None, f"a table: [{key}]", lambda one: one is None or isinstance(one, dict))
        return None if found is None else Table(self.where, cast("dict[str, object]", found))

    def tables(self, key: str) -> list["Table"]:
        """Return a list of tables in this one."""
        found = self._taken(key, [], f"tables: [[{key}]]", lambda one: _are(dict, one))
        return [Table(self.where, one) for one in cast("list[dict[str, object]]", found)]

    def no_more(self) -> None:
        """Refuse what was not asked for."""
        if self._has_twins:
            raise self.refusal("has a key twice, in upper and lower case.")
        if unknown := sorted(self._values):
            raise self.refusal(f"has the unknown key {ascii(unknown[0])[1:-1]:.40}.")

    def _taken(self, key: str, default: object, wanted: str, fits: Callable[[object], bool]) -> object:
        value = self._values.pop(key, default)
        if not fits(value):
            raise self.refusal(f"has a wrong {key}: it must be {wanted}.")
        return value


def _is_number(value: object, *kinds: type[int | float]) -> bool:
    return not isinstance(value, bool) and isinstance(value, kinds) and value >= 0


def _are(kind: type, values: object) -> bool:
    return isinstance(values, list) and all(isinstance(one, kind) for one in cast("list[object]", values))


def parsed(document: bytes, file: str) -> Table:
    """Return the outermost table of a file; raise `Invalid`."""
    try:
        return Table(file, tomllib.loads(document.decode()))
    except tomllib.TOMLDecodeError as error:
        where = _POSITION.search(str(error))
        reason = f"{file} is not TOML{' ' + where[0] if where else ''}."
    except (UnicodeDecodeError, RecursionError, ValueError):
        reason = f"{file} is not TOML: it is not UTF-8, or nested too deeply, or holds a number too long to read."
    raise Invalid(reason)
