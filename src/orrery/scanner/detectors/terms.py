"""The terms of the watch-list, in whatever spelling."""

from collections.abc import Iterator, Sequence

from orrery.scanner.detectors.engine import Engine
from orrery.scanner.detectors.reading import Reader
from orrery.scanner.detectors.spelling import why_unsearchable as _why_unsearchable
from orrery.scanner.findings import Match
from orrery.scanner.policy import Term


class TermDetector:
    """See `Detector`. A term that cannot be searched is left out: see `why_unsearchable`."""

    def __init__(self, terms: Sequence[Term], reader: Reader | None = None) -> None:
        searchable = [(term.kind, term.text) for term in terms if not why_unsearchable(term)]
        self._engine = Engine(searchable, reader or Reader())

    def matches(self, text: bytes, place: str | None) -> Iterator[Match]:
        del place
        yield from self._engine.matches(text)


def why_unsearchable(term: Term) -> str:
    """Return why a term cannot be watched for, as a sentence, or nothing when it can."""
    return _why_unsearchable(term.kind, term.text)
