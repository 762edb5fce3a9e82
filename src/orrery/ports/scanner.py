"""The scanner of what is about to be published, as a port: it reports what is wrong, and never quotes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

NO_NAMES = (
    "There is a track A, but no watch-list, so none of its names would be found: nothing goes out until there is "
    "one; type: orrery tenants watch add --kind customer (its key first, once: orrery tenants watch new-key)"
)
"""The refusal where finding nothing would be no all-clear (decision 71)."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What must not be published: its kind, and where; never the text itself (decision 39)."""

    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan found. `notes` are sentences about what was not searched for, such as without a watch-list.

    `knows_names` is true when the watch-list has terms.
    """

    leaks: tuple[Leak, ...] = ()
    notes: tuple[str, ...] = ()
    knows_names: bool = True


@dataclass(frozen=True, slots=True)
class Checked:
    """How one part of the scanner is, and why."""

    part: str
    state: Literal["ok", "broken", "off"]
    why: str = ""


class Scanner(Protocol):
    """Reads what is about to be published; raises `NotConfigured` when it cannot do so at all."""

    def check(self) -> Sequence[Checked]:
        """Return how each part of the scanner is, the hooks of the protected repositories among them."""
        ...

    def scan(self, files: Mapping[str, bytes]) -> Scanned:
        """Return what is wrong in files and their names; an unreadable file is a separate kind of leak."""
        ...
