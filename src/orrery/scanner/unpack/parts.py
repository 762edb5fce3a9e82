"""A file, or one inside it, on its way to being texts."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import BinaryIO

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import UnpackBudget
from orrery.scanner.unpack.view import WINDOW, Views, windows


@dataclass(frozen=True, slots=True)
class UnpackedFile:
    """A file; `look` yields the texts of what is inside, and `depth` is how many files it is in."""

    place: str
    name: str
    content: BinaryIO
    budget: UnpackBudget
    look: Callable[["UnpackedFile"], Views]
    depth: int = 0

    def at(self, label: str) -> str:
        """Return the place of something inside."""
        return "!".join(filter(None, (self.place, label)))

    def pieces(self, start: int = 0) -> Iterable[bytes]:
        """Yield the bytes from a place on."""
        return self.slice(start, sys.maxsize)

    def slice(self, start: int, end: int) -> Iterable[bytes]:
        """Yield the bytes between two places."""
        while start < end:
            _ = self.content.seek(start)  # each time: others read the same file between two pieces
            piece = self.content.read(min(WINDOW, end - start))
            if not piece:
                return
            start += len(piece)
            yield piece

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.content.seek(0, 2)

    def text(self, label: str, *texts: bytes) -> Views:
        """Yield a short text from inside, such as the names of members."""
        yield from windows(self.at(label), [b"\n".join(filter(None, texts))], 0)

    def inside(self, label: str, name: str, content: BinaryIO) -> Views:
        """Yield the texts of a file inside."""
        place = self.at(label)
        self.budget.take_member(place)
        depth = self.depth + 1
        if depth > self.budget.limits.depth:
            yield NotRead(place, f"It is nested more than {depth - 1} deep: unpack it, and scan what comes out.")
        else:
            yield from self.look(UnpackedFile(place, name, content, self.budget, self.look, depth))

    def known(self, label: str, name: str, content: bytes) -> Views:
        """Yield the texts of a file inside, which is in memory."""
        self.budget.take_bytes(self.at(label), len(content))
        yield from self.inside(label, name, BytesIO(content))

    def rest(self, start: int) -> Views:
        """Yield the texts of what follows the end of a file, as another file."""
        yield from self.unpacked("(after its end)", "", self.pieces(start), self.size - start)

    def unpacked(self, label: str, name: str, pieces: Iterable[bytes], packed: int) -> Views:
        """Yield the texts of a file inside, as far as it can be unpacked."""
        place = self.at(label)
        with self.budget.unpacked(place, pieces, packed) as (content, why):
            yield from self.inside(label, name, content)
            if why:
                yield NotRead(place, why)


def without_lines(views: Views) -> Views:
    """Yield views of what is in the file too: a match is then one finding, also where both have it."""
    return (view if isinstance(view, NotRead) else replace(view, line=0) for view in views)
