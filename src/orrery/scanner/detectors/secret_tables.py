"""The tables of a file of rules: each key is read once, by its type, and one that nobody reads is refused.

A message names the file, the rule and the key, and no value: rules may say what somebody's secrets look like.
"""

import re
import tomllib
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
        """Return the error that says where something is wrong."""
        return Invalid(f"{self.where} {sentence}")

    def text(self, key: str) -> str:
        """Return a string, which is empty if there is none."""
        value = self._taken(key, "")
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def number(self, key: str) -> float:
        """Return a number from 0, which is 0 if there is none."""
        value = self._taken(key, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise self._wrong(key, "a number from 0")
        return value

    def count(self, key: str) -> int | None:
        """Return a whole number from 0, or None."""
        value = self._taken(key, None)
        if isinstance(value, bool) or not isinstance(value, int | None) or (value or 0) < 0:
            raise self._wrong(key, "a whole number from 0")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false, which is false if there is none."""
        value = self._taken(key, default=False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self._list(key, "a list of strings")
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) < len(values):
            raise self._wrong(key, "a list of strings")
        return texts

    def table(self, key: str) -> "Table | None":
        """Return a table in this one, or None."""
        value = self._taken(key, None)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(key, f"a table: [{key}]")
        return Table(self.where, cast("dict[str, object]", value))

    def tables(self, key: str) -> list["Table"]:
        """Return a list of tables in this one."""
        values = self._list(key, f"tables: [[{key}]]")
        tables = [Table(self.where, cast("dict[str, object]", one)) for one in values if isinstance(one, dict)]
        if len(tables) < len(values):
            raise self._wrong(key, f"tables: [[{key}]]")
        return tables

    def no_more(self) -> None:
        """Refuse what was not asked for."""
        if self._has_twins:
            raise self.refusal("has a key twice, in upper and lower case.")
        if unknown := sorted(self._values):
            raise self.refusal(f"has the unknown key {ascii(unknown[0])[1:-1]:.40}.")

    def _list(self, key: str, what: str) -> list[object]:
        values = self._taken(key, [])
        if not isinstance(values, list):
            raise self._wrong(key, what)
        return cast("list[object]", values)

    def _taken(self, key: str, default: object) -> object:
        return self._values.pop(key, default)

    def _wrong(self, key: str, wanted: str) -> Invalid:
        return self.refusal(f"has a wrong {key}: it must be {wanted}.")


def parsed(document: bytes, file: str) -> Table:
    """Return the outermost table of a file; raise `Invalid`."""
    try:
        return Table(file, tomllib.loads(document.decode()))
    except tomllib.TOMLDecodeError as error:
        where = _POSITION.search(str(error))
        said = f"{file} is not TOML{' ' + where[0] if where else ''}."
    except (UnicodeDecodeError, RecursionError, ValueError):
        said = f"{file} is not TOML: it is not UTF-8, or nested too deeply, or holds a number too long to read."
    raise Invalid(said)
