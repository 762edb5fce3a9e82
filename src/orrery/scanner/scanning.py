"""One scan: every text of a source is searched by every detector."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO

from orrery.ports.scanned import Item, NotRead, Source
from orrery.scanner.allowances import Allowances
from orrery.scanner.findings import Detector, Finding, Match
from orrery.scanner.fingerprints import Fingerprints
from orrery.scanner.unpack.views import View, views

MOST_OF_A_KIND = 1000
"""Findings of one item: a generated file with more is reported as having more."""


def _unseen(read: int) -> None:
    del read


@dataclass(frozen=True, slots=True)
class Scan:
    """Searches a source. `progress` is called with the number of bytes of each item that was searched."""

    detectors: Sequence[Detector]
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    allowances: Allowances = field(default_factory=Allowances)
    progress: Callable[[int], None] = _unseen

    def findings(self, source: Source) -> Iterator[Finding]:
        """Yield what must not be public, and what could not be searched."""
        for item in source.items():
            if isinstance(item, NotRead):
                yield Finding("unreadable", item.place, why=item.why)
                continue
            found = list(dict.fromkeys(self._in(item)))
            since = source.since(item.object) if found and item.object else ""
            for one in found:
                yield Finding(one.kind, one.place, one.line, one.rule, one.fingerprint, since, one.why)
            self.progress(item.size)

    def _in(self, item: Item) -> Iterator[Finding]:
        if item.name:
            yield from self._in_view(
                View("", item.name.encode(errors="surrogateescape"), 0), f"{item.place} (its name)"
            )
        for view in views(item.name, item.content):
            place = "!".join(filter(None, (item.place, view.place if isinstance(view, NotRead) else view.part)))
            if isinstance(view, NotRead):
                yield Finding("unreadable", place, why=view.why)
            else:
                yield from self._in_view(view, place)

    def _in_view(self, view: View, place: str) -> Iterator[Finding]:
        for detector in self.detectors:
            for match in detector.matches(view.text, place):
                yield from self._judged(match, view, place)

    def _judged(self, match: Match, view: View, place: str) -> Iterator[Finding]:
        line = view.line + view.text.count(b"\n", 0, match.start) if view.line else 0
        finding = Finding(match.kind, place, line, match.rule, self.fingerprints.of(match.kind, match.value))
        yield from self.allowances.judge(finding, view.text, match)


def text_item(place: str, text: bytes) -> Item:
    """Return a text as an item."""
    return Item(place, "", len(text), BytesIO(text))
