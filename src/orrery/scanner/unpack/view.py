"""A text that is searched, and how a long one is cut."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

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


Views: TypeAlias = Iterator[View | NotRead]


def blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in blocks of `WINDOW`."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        start = 0
        while size + len(piece) - start >= WINDOW:
            end = start + WINDOW - size
            whole = piece if not held and len(piece) == WINDOW else b"".join((*held, piece[start:end]))
            held, size, start = [], 0, end
            yield whole
        if start < len(piece):
            held.append(piece[start:] if start else piece)
            size += len(piece) - start
    if held:
        yield b"".join(held)


def windows(part: str, pieces: Iterable[bytes], line: int = 1) -> Iterator[View]:
    """Yield a text as views that overlap."""
    before = last = b""
    for block in blocks(pieces):
        if (
            line and last
        ):  # only a text with a second window has its lines counted: counting takes as long as reading
            line += last.count(b"\n", 0, len(last) - len(before))
        last = before + block if before else block
        yield View(part, last, line)
        before = last[-OVERLAP:]
