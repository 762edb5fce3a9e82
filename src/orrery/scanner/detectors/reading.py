"""A text as it can be read: its octets, and in plain letters where it is written in another way."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate

from orrery.scanner.detectors.encodings import as_text, readings, refanged
from orrery.scanner.detectors.hints import DEFANGED, DEFINED, WRITTEN, hints
from orrery.scanner.detectors.seams import OneText, one_texts
from orrery.syntax.character_folding import LOOK, LOOKS, NATIVE

BLOCK = 16 * 1024
"""Bytes that are read at once: so few that a term which is in them is found fast."""

OVERLAP = 2 * 1024
"""Bytes that two blocks share."""

EDGE = 32
"""Characters beside a cut in which nothing is judged, because the block before or after has them whole."""

CONTEXT = 96
"""Bytes beside a word that decide whether it ends there."""


class Reading(ABC):
    """A block in one way of reading.

    `base` is in plain letters of each script; `text` has Latin letters for those that look like them; `low` is
    the same without case; `octets` are its ASCII. All have the same length. `is_whole`: it has
    whole lines.
    """

    is_whole = True

    def __init__(self, block: bytes, start: int, cut: tuple[bool, bool]) -> None:
        self.block = block
        self.start = start
        self._cut = cut

    @cached_property
    @abstractmethod
    def base(self) -> str: ...

    @cached_property
    def text(self) -> str:
        return self.base.translate(LOOKS) if LOOK.search(self.base) else self.base

    @cached_property
    def low(self) -> str:
        return self.text.casefold()

    @cached_property
    def native(self) -> str:
        """The same without case, in one script for each word: for terms that are not Latin."""
        return self.base.casefold().translate(NATIVE)

    @cached_property
    def octets(self) -> bytes:
        return self.text.encode("ascii", "replace")

    @cached_property
    def hints(self) -> set[str]:
        return hints(self.octets)

    def judges(self, start: int, end: int) -> bool:
        """Return whether a place is far enough from where the text was cut."""
        return not ((self._cut[0] and start < EDGE) or (self._cut[1] and end > len(self.octets) - EDGE))

    @abstractmethod
    def at(self, place: int) -> int:
        """Return where in the whole text a character is: its line is right."""

    def before(self, place: int) -> str:
        """Return what a reader sees before a place."""
        return self.base[max(0, place - CONTEXT) : place]

    def after(self, place: int) -> str:
        """Return what a reader sees after a place."""
        return self.base[place : place + CONTEXT]


class Raw(Reading):
    """The octets of a block. `base` has a character for each byte; what is not ASCII means nothing here.

    `whole` is the text of the block.
    """

    def __init__(self, whole: bytes, start: int, end: int) -> None:
        super().__init__(whole[start:end], start, (start > 0, end < len(whole)))
        self.whole = whole

    @cached_property
    def base(self) -> str:
        return self.block.decode("latin-1")

    @cached_property
    def text(self) -> str:
        return self.base

    @cached_property
    def low(self) -> str:
        return self.block.lower().decode("latin-1")

    @cached_property
    def octets(self) -> bytes:
        return self.block

    def at(self, place: int) -> int:
        return self.start + place

    def before(self, place: int) -> str:
        return self._context(max(0, place - CONTEXT), place)

    def after(self, place: int) -> str:
        return self._context(place, place + CONTEXT)

    def _context(self, start: int, end: int) -> str:
        context = self.block[start:end]
        return as_text(context) if WRITTEN in self.hints else context.decode("latin-1")


def _refanging(read: Callable[[bytes], str]) -> Callable[[bytes], str]:
    def both(piece: bytes) -> str:
        return refanged(read(piece))

    return both


class Read(Reading):
    """A block that was written in another way."""

    def __init__(self, block: bytes, start: int, cut: tuple[bool, bool], read: Callable[[bytes], str]) -> None:
        super().__init__(block, start, cut)
        self._read = read
        if DEFANGED in self.hints:
            self._read = _refanging(read)
            for name in ("base", "text", "octets", "hints"):
                _ = vars(self).pop(name, None)

    @cached_property
    def base(self) -> str:
        return self._read(self.block)

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """Where each line begins, as it was read and in the block."""
        lines = [line + b"\n" for line in self.block.split(b"\n")]
        read = accumulate((len(self._read(line)) for line in lines), initial=0)
        return list(read), list(accumulate(map(len, lines), initial=0))

    def at(self, place: int) -> int:
        read, raw = self._lines
        line = min(bisect_right(read, place), len(read) - 1) - 1
        within = (place - read[line]) / max(1, read[line + 1] - read[line])
        last = min(raw[line + 1] - 1, len(self.block) - 1)
        return self.start + min(last, raw[line] + int(within * (raw[line + 1] - raw[line])))


class Joined(Reading):
    """What is one text for a reader, and is in pieces in the file: see `seams`. It has parts of lines only."""

    is_whole = False

    def __init__(self, text: bytes, pieces: OneText) -> None:
        super().__init__(text, 0, (False, False))
        self._pieces = pieces

    @cached_property
    def base(self) -> str:
        return self._pieces.text

    def at(self, place: int) -> int:
        return self._pieces.at(place)


def blocks(text: bytes) -> Iterator[list[Reading]]:
    """Yield the readings of each block of a text, its octets first; then those of what is one text in it."""
    is_defined = False
    for block in _blocks(text):
        is_defined = is_defined or DEFINED in block[0].hints
        yield block
    for pieces in one_texts(text, BLOCK, is_defined=is_defined):
        yield [Joined(text, pieces)]


def _blocks(text: bytes) -> Iterator[list[Reading]]:
    start = 0
    while True:
        end = start + BLOCK
        raw = Raw(text, start, end)
        others = [
            Read(raw.block[a:b], start + a, (start + a > 0, start + b < len(text)), read)
            for a, b, read in readings(raw.block, raw.hints)
        ]
        yield [raw, *others]
        if end >= len(text):
            return
        start = end - OVERLAP


def line_of(text: bytes, place: int) -> int:
    """Return where the line of a place begins."""
    return text.rfind(b"\n", 0, place) + 1
