"""The texts in a file: what is searched."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from orrery.ports.scanned import NotRead

WINDOW = 1024 * 1024
"""Bytes of a long text that are searched at once."""

OVERLAP = 8 * 1024
"""Bytes that two windows share, so that nothing is cut in two."""


@dataclass(frozen=True, slots=True)
class View:
    """A text of a file. `part` says which, with `!` between archives and their members, and is empty for the file.

    `line` is the number of its first line, and 0 where lines mean nothing to a reader.
    """

    part: str
    text: bytes = field(repr=False)
    line: int = 1


def views(name: str, content: BinaryIO) -> Iterator[View | NotRead]:
    """Yield every text in a file, and what could not be read, whose place is the part."""
    del name
    line = 1
    before = b""
    while piece := content.read(WINDOW):
        text = before + piece
        yield View("", text, line)
        before = text[-OVERLAP:]
        line += text.count(b"\n", 0, len(text) - len(before))
