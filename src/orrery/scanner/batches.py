"""Many small texts are searched together: what a search costs at least is paid once for all of them.

A tree of source code has files of a few kilobytes. Searched one by one, most of the time would go into calls. Only
a text in which the common search found something is searched by itself, with its path.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from orrery.scanner.detectors.encodings import controls
from orrery.scanner.findings import BETWEEN, Detector, Match
from orrery.scanner.unpack.view import View

LARGEST = 256 * 1024
"""Bytes of texts that are searched together."""


@dataclass(slots=True, eq=False)
class Subject:
    """An item of the source as its findings need it; `reported` counts them."""

    place: str
    name: str
    object: str
    reported: int = 0
    since: str | None = None
    _in_lines: Counter[Match] = field(default_factory=Counter[Match], repr=False)
    _without: Counter[Match] = field(default_factory=Counter[Match], repr=False)
    _allowed: set[Match] = field(default_factory=set[Match], repr=False)

    def note_in_a_line(self, match: Match, *, is_allowed: bool) -> None:
        """Note a match that has a line."""
        value = replace(match, start=0, end=0)
        self._in_lines[value] += 1
        if is_allowed:
            self._allowed.add(value)

    def is_new_without_a_line(self, match: Match) -> bool:
        """Return whether a match adds something to those that have a line.

        A text with mark-up is searched without it, too, where it has no lines. What was allowed in its line hides
        as many there, and no further one.
        """
        value = replace(match, start=0, end=0)
        self._without[value] += 1
        if value in self._allowed:
            return self._without[value] > self._in_lines[value]
        return value not in self._in_lines


@dataclass(frozen=True, slots=True)
class TextOfItem:
    """One text of an item. `path` is for the rules, `place` for the reader."""

    subject: Subject
    view: View
    path: str
    place: str


@dataclass(slots=True)
class Batch:
    """The texts that wait for a common search."""

    detectors: Sequence[Detector]
    texts: list[TextOfItem] = field(default_factory=list[TextOfItem])
    size: int = 0

    def add(self, text: TextOfItem) -> None:
        """Add a text."""
        self.texts.append(text)
        self.size += len(text.view.text) + len(BETWEEN)

    @property
    def is_full(self) -> bool:
        """Return whether it is time to search."""
        return self.size >= LARGEST

    def matches(self) -> list[tuple[TextOfItem, Match]]:
        """Return what is in the texts."""
        return [
            (self.texts[number], match)
            for number, detectors in self._touched().items()
            for detector in detectors
            for match in detector.matches(self.texts[number].view.text, self.texts[number].path)
        ]

    def _touched(self) -> dict[int, list[Detector]]:
        """Return the texts in which something may be, by their numbers, each with who may find it."""
        texts = self.texts
        if len(texts) <= 1:
            return {number: [*self.detectors] for number in range(len(texts))}
        # A block with many control characters is read in another way: a neighbour's must not decide how.
        alone = [number for number, one in enumerate(texts) if controls(one.view.text)]
        touched = {number: [*self.detectors] for number in alone}
        common = [b"" if number in touched else one.view.text for number, one in enumerate(texts)]
        joined = BETWEEN.join(common)
        ends = list(accumulate(len(one) + len(BETWEEN) for one in common))
        for detector in self.detectors:
            found = {number for number, one in enumerate(texts) if detector.is_for_path(one.path)}
            for match in detector.matches(joined, None):
                last = max(match.start, match.end - 1)
                found.update(range(bisect_right(ends, match.start), bisect_right(ends, last) + 1))
            for number in found.intersection(range(len(texts))).difference(alone):
                touched.setdefault(number, []).append(detector)
        return dict(sorted(touched.items()))
