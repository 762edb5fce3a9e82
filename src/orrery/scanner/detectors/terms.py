"""The terms of the watch-list."""

from collections.abc import Iterator

from orrery.scanner.findings import Match
from orrery.scanner.policy import Term


class TermDetector:
    """See `Detector`."""

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self._terms = [(term, term.text.casefold()) for term in terms]

    def matches(self, text: bytes, place: str) -> Iterator[Match]:
        del place
        folded = text.decode(errors="replace").casefold()
        for term, value in self._terms:
            if (at := folded.find(value)) >= 0:
                yield Match(term.kind, at, at + len(value), value)
