"""The scanner of what is about to be published, as a port: it says what is wrong, and never quotes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Leak:
    """What must not be published: its kind, and where; never the text itself (decision 39)."""

    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan found. `notes` are sentences about what was not searched for, such as without a watch-list."""

    leaks: tuple[Leak, ...] = ()
    notes: tuple[str, ...] = ()


class Scanner(Protocol):
    """Reads what is about to be published; raises `NotConfigured` when it cannot do so at all."""

    def check(self) -> tuple[str, ...]:
        """Return when files can be scanned, with the notes that a scan would have."""
        ...

    def scan(self, files: Mapping[str, bytes]) -> Scanned:
        """Return what is wrong in files and their names; a file that cannot be read is a leak of its own kind."""
        ...
