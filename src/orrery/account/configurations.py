"""Payment method configurations as the owner looks at them and changes them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from orrery.ports.processor import Configuration


@dataclass(frozen=True, slots=True)
class ConfigurationPatch:
    """The new values of a configuration; None leaves a value as it is. `on` and `off` are slugs of methods."""

    on: Sequence[str] = ()
    off: Sequence[str] = ()
    name: str | None = None
    active: bool | None = None


def oddities(configurations: Sequence[Configuration]) -> list[str]:
    """Return a sentence for each name that several configurations share, and one when several are the default."""
    sentences: list[str] = []
    names = sorted({one.name for one in configurations})
    for name in names:
        same = [one.id for one in configurations if one.name == name]
        if len(same) > 1:
            sentences.append(f"{len(same)} configurations are named {name!r}: {', '.join(same)}.")
    defaults = [one.id for one in configurations if one.is_default]
    if len(defaults) > 1:
        sentences.append(f"{len(defaults)} configurations say that they are the default: {', '.join(defaults)}.")
    return sentences
