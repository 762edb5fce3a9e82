"""The terms of the watch-list, in whatever spelling."""

from collections.abc import Sequence

from orrery.scanner.detectors.engine import TermSearch
from orrery.scanner.detectors.searching import SearchDetector
from orrery.scanner.detectors.spelling import why_unsearchable as _why_unsearchable
from orrery.scanner.findings import Kind
from orrery.scanner.policy import Term


class TermDetector(SearchDetector):
    """See `Detector`. A term that cannot be searched is left out: see `why_unsearchable`."""

    def __init__(self, terms: Sequence[Term]) -> None:
        super().__init__(TermSearch(watched(terms)))


def watched(terms: Sequence[Term]) -> list[tuple[Kind, str]]:
    """Return the terms that can be searched, for the search."""
    return [(term.kind, term.text) for term in terms if not why_unsearchable(term)]


def why_unsearchable(term: Term) -> str:
    """Return why a term cannot be watched for, as a sentence, or nothing when it can."""
    return _why_unsearchable(term.kind, term.text)
