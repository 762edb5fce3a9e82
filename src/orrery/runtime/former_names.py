"""The names that settings and secrets had in earlier releases, declared beside their names of today.

Nothing here imports pydantic: the modules' data hold declarations, too.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name of before the release `since`. `instead`: what to do, in a sentence, where nothing took its place."""

    old: str
    since: str
    instead: str = ""


def renamed(old: str, *, since: str) -> FormerName:
    """Declare that a key, a section or a secret had another name: it is read under either, not under both."""
    return FormerName(old, since)


def retired(old: str, *, since: str, instead: str) -> FormerName:
    """Declare that a key, a section or a secret is no more: it is passed over, and `orrery doctor` names it."""
    return FormerName(old, since, instead)


def names_of(name: str, former: Iterable[FormerName]) -> list[str]:
    """Return every name of one thing, today's first."""
    return [name, *(each.old for each in former)]


def joined(name: str, values: dict[str, object]) -> object:
    """Return as one what is given under several names of one thing: tables, if they have no key in common.

    Raises `ValueError` where one thing is given twice, with a sentence without its end.
    """
    if len(values) == 1:
        return next(iter(values.values()))
    if not all(isinstance(one, dict) for one in values.values()):
        raise ValueError(why_twice(name, values))
    tables = {one: cast("dict[str, object]", table) for one, table in values.items()}
    keys = dict.fromkeys(key for table in tables.values() for key in table)
    return {
        key: joined(f"{name}.{key}", {f"{one}.{key}": table[key] for one, table in tables.items() if key in table})
        for key in keys
    }


def why_twice(name: str, given: Collection[str]) -> str:
    """Return in a sentence without its end that one thing is given under several names."""
    return f"{' and '.join(given)} are one: keep {name}, and remove what else there is"
