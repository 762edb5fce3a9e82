"""The terms of the watch-list, in whatever spelling."""

from collections.abc import Sequence

from orrery.scanner.detectors.spelling import why_unsearchable as _why_unsearchable
from orrery.scanner.findings import Kind
from orrery.scanner.policy import Term


def watched(terms: Sequence[Term]) -> list[tuple[Kind, str]]:
    """Return the terms that can be searched, for the search."""
    return [(term.kind, term.text) for term in terms if not why_unsearchable(term)]


def why_unsearchable(term: Term) -> str:
    """Return why a term cannot be watched for, as a sentence, or nothing when it can."""
    return _why_unsearchable(term.kind, term.text)
