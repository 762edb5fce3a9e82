"""The names that settings and secrets had in earlier releases, declared beside their names of today.

Nothing here imports pydantic: the modules' data hold declarations, too.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass


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


def names_given(name: str, former: Iterable[FormerName], given: Collection[str]) -> list[str]:
    """Return the names under which one thing is given: none, one, or several, which is refused."""
    return [one for one in (name, *(each.old for each in former)) if one in given]


def why_twice(name: str, given: Collection[str]) -> str:
    """Return in a sentence without its end that one thing is given under several names."""
    return f"{' and '.join(given)} are one: keep {name}, and remove what else there is"
