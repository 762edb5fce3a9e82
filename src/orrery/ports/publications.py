"""What is published as files, as a port: it is read once, and written as a whole or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from orrery.errors import OrreryError


class PublicationRefused(OrreryError):
    """What was to be published may not be, or cannot be read or written; nothing was written."""


MOST_ENTRIES = 2000
"""How many files and folders one publication may have."""

MOST_BYTES = 100 * 1024 * 1024
"""How large one publication may be: it is held in memory, so that what was scanned is what is written."""


@dataclass(frozen=True, slots=True)
class Material:
    """What is to be published: the content of each file by its name, with `/` between folders.

    One that is no folder has one file.
    """

    files: Mapping[str, bytes]
    is_folder: bool = False


class Publications(Protocol):
    """Reads what is to be published, and writes it. Raises `PublicationRefused`; nothing is written then."""

    def read(self, source: Path) -> Material:
        """Return a file, or a folder with all that is in it; raise `NotFound` when it is missing.

        Refused are symbolic links, what is neither file nor folder, `.git`, what is hidden in a folder, and more
        than `MOST_ENTRIES` or `MOST_BYTES`.
        """
        ...

    def check(self, folder: Path) -> None:
        """Return when the folder of a destination is there and can be written to."""
        ...

    def write(self, material: Material, folder: Path, inside: PurePosixPath) -> None:
        """Write it into the folder of a destination, as `inside`; the folders above it are made.

        A file takes the place of one that is there; a folder that is there already is refused.
        """
        ...
