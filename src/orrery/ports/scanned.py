"""What the scanner reads, as a port: files, and what a repository holds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class Item:
    """One content to be searched, such as a file, a blob, or the message of a commit.

    `place` names it in a report; `name` is a file's path, which is searched, too, and empty for
    what has none. `content` can be sought in, and read until the next item is asked for. `object` is what
    `Source.since` knows it by, if it is in a history: an id, or a path. `is_named_elsewhere` is true of a version
    of a file: another item has its name, so that a name with a thousand versions is searched once.
    """

    place: str
    name: str
    size: int
    content: BinaryIO = field(repr=False)
    object: str = ""
    is_named_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class NotRead:
    """What could not be searched, why, and what to do: it counts as found (decision 39)."""

    place: str
    why: str


class Source(Protocol):
    """A tree of files, the index of a repository, its history, or one text."""

    @property
    def bytes(self) -> int | None:
        """How many bytes there are in all, as far as that is known before they are read."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the summary: what was left out on purpose. They are complete when all items were read."""
        ...

    def items(self) -> Iterator[Item | NotRead]:
        """Yield everything there is, once."""
        ...

    def since(self, object_id: str) -> str:
        """Return the first commit that has an `Item.object`, and its day; nothing when no commit has it."""
        ...


@dataclass(frozen=True, slots=True)
class HooksFolder:
    """Where git looks for the hooks of a repository; `is_shared` when `core.hooksPath` names it."""

    path: Path
    work_tree: Path
    is_shared: bool
