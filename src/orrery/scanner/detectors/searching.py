"""One detector of all searches that read a text alike: each block is read once, and then searched."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from orrery.scanner.detectors.reading import Reading, blocks, line_of
from orrery.scanner.findings import Kind, Match


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place in a reading of a block."""

    kind: Kind
    reading: Reading
    start: int
    end: int
    value: str = field(repr=False)


Search = Callable[[Sequence[Reading]], Iterator[Occurrence]]
"""Yields what is in one block, of which it gets all readings; a place may come more than once."""


class SearchDetector:
    """See `Detector`. Each value is found once on a line, in whatever way the line is read."""

    def __init__(self, *searches: Search) -> None:
        self._searches = searches

    def is_for_path(self, path: str) -> bool:
        del path
        return False

    def matches(self, text: bytes, place: str | None) -> Iterator[Match]:
        del place
        found: set[tuple[Kind, str, int]] = set()
        for readings in blocks(text):
            for one in (one for search in self._searches for one in search(readings)):
                start = one.reading.at(one.start)
                key = (one.kind, one.value, line_of(text, start))
                if key not in found:
                    found.add(key)
                    end = min(len(text), max(start, one.reading.at(one.end - 1)) + 1)
                    yield Match(one.kind, start, end, one.value)
