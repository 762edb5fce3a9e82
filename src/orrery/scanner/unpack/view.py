"""A text that is searched, and how a long one is cut."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from orrery.ports.scanned import NotRead

WINDOW = 1024 * 1024
"""Bytes of a long text that are searched at once."""

OVERLAP = 8 * 1024
"""Bytes that two windows share, so that nothing is cut in two."""


@dataclass(frozen=True, slots=True)
class View:
    """A text of a file. `part` names it, with `!` between archives and their members, and is empty for the file.

    `line` is the number of its first line, and 0 where lines mean nothing to a reader.
    """

    part: str
    text: bytes = field(repr=False)
    line: int = 1


Views: TypeAlias = Iterator[View | NotRead]


def windows(part: str, pieces: Iterable[bytes], line: int = 1) -> Iterator[View]:
    """Yield a text as views that overlap: this is the one place where a text is cut for the search."""
    held, shared = bytearray(), 0
    for piece in pieces:
        held += piece
        while len(held) >= shared + WINDOW:
            view = View(part, bytes(held[: shared + WINDOW]), line)
            yield view
            line += line and view.text.count(b"\n", 0, len(view.text) - OVERLAP)
            del held[: len(view.text) - OVERLAP]
            shared = OVERLAP
    if len(held) > shared:
        yield View(part, bytes(held), line)


def changed(
    pieces: Iterable[bytes], change: Callable[[bytes], bytes], end: Callable[[bytes], int]
) -> Iterator[bytes]:
    """Yield a text in another form, piece by piece; `end` returns up to where nothing in a piece is cut in two."""
    held = b""
    for piece in pieces:
        held += piece
        at = end(held)
        yield change(held[:at])
        held = held[at:]
    yield change(held)


def until(ends: re.Pattern[bytes], pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces up to the first place that an expression matches."""
    for piece in pieces:
        end = ends.search(piece)
        yield piece[: end.start()] if end else piece
        if end:
            return
