"""A text as it can be read: as it stands, and in plain letters where it is written in another way."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate

from orrery.scanner.detectors.encodings import as_text, readings
from orrery.scanner.detectors.hints import Hints
from orrery.scanner.detectors.letters import LOOK, LOOKS, NATIVE

BLOCK = 16 * 1024
"""Bytes that are read at once: so few that a term which is in them is found fast."""

OVERLAP = 2 * 1024
"""Bytes that two blocks share."""

EDGE = 32
"""Characters beside a cut in which nothing is judged, because the block before or after has them whole."""

CONTEXT = 96
"""Bytes beside a word that say whether it ends there."""


class Reading:
    """A block in one way of reading.

    `base` is in plain letters of each script; `text` has Latin letters for those that look like them; `low` is
    the same without case; `octets` are its ASCII. All have the same length.
    """

    def __init__(self, block: bytes, start: int, base: str, cut: tuple[bool, bool]) -> None:
        self.block = block
        self.start = start
        self.base = base
        self._first = EDGE if cut[0] else 0
        self._last = len(base) - (EDGE if cut[1] else 0)

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
    def hints(self) -> Hints:
        return Hints(self.octets)

    def judges(self, start: int, end: int) -> bool:
        """Return whether a place is far enough from where the text was cut."""
        return self._first <= start and end <= self._last

    def at(self, place: int) -> int:
        """Return where in the whole text a character is: its line is right."""
        raise NotImplementedError

    def before(self, place: int) -> str:
        """Return what a reader sees before a place."""
        return self.base[max(0, place - CONTEXT) : place]

    def after(self, place: int) -> str:
        """Return what a reader sees after a place."""
        return self.base[place : place + CONTEXT]


class Raw(Reading):
    """A block as it stands. `base` has a character for each byte; what is not ASCII means nothing here."""

    def __init__(self, block: bytes, start: int, cut: tuple[bool, bool]) -> None:
        super().__init__(block, start, block.decode("latin-1"), cut)
        self.is_plain = True

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
        context = self.block[max(0, place - CONTEXT) : place]
        return context.decode("latin-1") if self.is_plain else as_text(context)

    def after(self, place: int) -> str:
        context = self.block[place : place + CONTEXT]
        return context.decode("latin-1") if self.is_plain else as_text(context)


class Read(Reading):
    """A block that was written in another way."""

    def __init__(self, block: bytes, start: int, cut: tuple[bool, bool], read: Callable[[bytes], str]) -> None:
        super().__init__(block, start, read(block), cut)
        self._read = read

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """Where each line begins, as it was read and as it stands."""
        lines = [line + b"\n" for line in self.block.split(b"\n")]
        read = accumulate((len(self._read(line)) for line in lines), initial=0)
        return list(read), list(accumulate(map(len, lines), initial=0))

    def at(self, place: int) -> int:
        read, raw = self._lines
        line = min(bisect_right(read, place), len(read) - 1) - 1
        within = (place - read[line]) / max(1, read[line + 1] - read[line])
        last = min(raw[line + 1] - 1, len(self.block))
        return self.start + min(last, raw[line] + int(within * (raw[line + 1] - raw[line])))


class Reader:
    """Reads a text for several detectors: the last one is kept, so that each is read once."""

    def __init__(self) -> None:
        self._text = b""
        self._blocks: list[list[Reading]] = []

    def __call__(self, text: bytes) -> list[list[Reading]]:
        """Return the readings of each block of a text: as it stands first."""
        if text is not self._text:
            self._text, self._blocks = text, list(_blocks(text))
        return self._blocks


def _blocks(text: bytes) -> Iterator[list[Reading]]:
    start = 0
    while True:
        end = start + BLOCK
        block = text[start:end]
        cut = (start > 0, end < len(text))
        raw = Raw(block, start, cut)
        others = [
            Read(block[a:b], start + a, (cut[0] or a > 0, cut[1] or b < len(block)), read)
            for a, b, read in readings(block, raw.hints)
        ]
        raw.is_plain = not others
        yield [raw, *others]
        if end >= len(text):
            return
        start = end - OVERLAP


def line_of(text: bytes, place: int) -> int:
    """Return where the line of a place begins."""
    return text.rfind(b"\n", 0, place) + 1
