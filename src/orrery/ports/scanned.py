"""What the scanner reads, as a port: files, and what a repository holds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class Item:
    """One content to be searched, such as a file, a blob, or the message of a commit.

    `place` names it in a report; `name` is a file's path, which is searched, too, and empty for what has none.
    `content` can be sought in, and read until the next item is asked for. `object` is its id in git, if it has
    one.
    """

    place: str
    name: str
    size: int
    content: BinaryIO = field(repr=False)
    object: str = ""


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

    def items(self) -> Iterator[Item | NotRead]:
        """Yield everything there is, once."""
        ...

    def since(self, object_id: str) -> str:
        """Return the first commit that has an object, short, or nothing when no commit has it."""
        ...
