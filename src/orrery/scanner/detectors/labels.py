"""The label of track A in a text: all that Orrery writes about an account's data says whose it is."""

from collections.abc import Iterator

from orrery.scanner.detectors.hints import LABEL, around, compiled
from orrery.scanner.detectors.reading import Reader
from orrery.scanner.findings import Match
from orrery.syntax.track import label_places

_AFTER = 4096
"""Bytes after the word in which its label ends: mark-up may stand between."""

_HINT = compiled(LABEL)


class LabelDetector:
    """See `Detector`."""

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader or Reader()

    def matches(self, text: bytes, place: str) -> Iterator[Match]:
        del place
        if b"\0" not in text and not any(LABEL in block[0].hints for block in self._reader(text)):
            return
        content = text.replace(b"\0", b"") if b"\0" in text else text
        found: set[int] = set()
        for first, last in around(_HINT, content):
            for start, end, track in label_places(content, first, last + _AFTER):
                if track == "A" and start not in found:
                    found.add(start)
                    at = _with_zeros(text, start) if content is not text else start
                    yield Match("track-label", at, min(len(text), at + end - start), "track A")


def _with_zeros(text: bytes, place: int) -> int:
    """Return where a place of a text without its zero bytes is in the text with them."""
    low, high = place, len(text)
    while low < high:
        middle = (low + high) // 2
        if middle - text.count(b"\0", 0, middle) < place:
            low = middle + 1
        else:
            high = middle
    return low
