"""Many small texts are searched together: what a search costs at least is paid once for all of them.

A tree of source code has files of a few kilobytes. Searched one by one, nine tenths of the time would go into calls.
Only a text in which something was found in the common search is searched by itself, with its path.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Text:
    """One text of an item. `path` is for the rules, `place` for the reader."""

    subject: Subject
    view: View
    path: str
    place: str


@dataclass(slots=True)
class Batch:
    """The texts that wait for a common search."""

    detectors: Sequence[Detector]
    texts: list[Text] = field(default_factory=list[Text])
    size: int = 0

    def add(self, text: Text) -> None:
        """Add a text."""
        self.texts.append(text)
        self.size += len(text.view.text) + len(BETWEEN)

    @property
    def is_full(self) -> bool:
        """Return whether it is time to search."""
        return self.size >= LARGEST

    def matches(self) -> Iterator[tuple[Text, Match]]:
        """Yield what is in the texts, and forget them."""
        texts, self.texts, self.size = self.texts, [], 0
        for detector in self.detectors:
            for one in _touched(detector, texts) if len(texts) > 1 else texts:
                for match in detector.matches(one.view.text, one.path):
                    yield one, match


def _touched(detector: Detector, texts: Sequence[Text]) -> Iterator[Text]:
    """Yield the texts in which something may be."""
    starts, at = list[int](), 0
    for one in texts:
        starts.append(at)
        at += len(one.view.text) + len(BETWEEN)
    joined = BETWEEN.join(one.view.text for one in texts)
    found = set[int]()
    for match in detector.matches(joined, None):
        first, last = (
            bisect_right(starts, match.start) - 1,
            bisect_right(starts, max(match.end - 1, match.start)) - 1,
        )
        found.update(range(first, last + 1))
    return (texts[number] for number in sorted(found))
