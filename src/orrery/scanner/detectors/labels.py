"""The label of track A in a text: all that Orrery writes about an account's data is marked with its track."""

from collections.abc import Iterator, Sequence

from orrery.scanner.detectors.hints import LABEL
from orrery.scanner.detectors.reading import Reading
from orrery.scanner.detectors.searching import Occurrence
from orrery.scanner.regex import around, compiled
from orrery.syntax.track import label_places

_AFTER = 1024
"""Bytes after the word in which its label ends: mark-up may be between."""

_HINT = compiled(LABEL)


def labels(readings: Sequence[Reading]) -> Iterator[Occurrence]:
    """Yield the labels of track A in a block."""
    for reading in (one for one in readings if LABEL in one.hints):
        for first, last in around(_HINT, reading.octets):
            for start, end, track in label_places(reading.octets, first, last + _AFTER):
                if track == "A":
                    yield Occurrence("track-label", reading, start, end, "track A")
