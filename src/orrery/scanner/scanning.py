"""One scan: every text of a source is searched by every detector."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO

from orrery.ports.scanned import Item, NotRead, Source
from orrery.scanner.allowances import Allowances
from orrery.scanner.findings import Detector, Finding, Match
from orrery.scanner.fingerprints import Fingerprints
from orrery.scanner.unpack.views import View, views

MOST = 200
"""Findings of one item that are reported: a list of customers says no more with each further line."""


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
                yield Finding("unreadable", self._masked(item.place), why=item.why)
                continue
            yield from self._reported(item, source)
            self.progress(item.size)

    def _reported(self, item: Item, source: Source) -> Iterator[Finding]:
        found = dict[Finding, None]()
        for one in self._in(item):
            found[one] = None
            if len(found) == MOST:
                why = f"It has {MOST} findings or more; only these are listed."
                found[Finding("unreadable", self._masked(item.place), why=why)] = None
                break
        since = source.since(item.object) if found and item.object else ""
        for one in found:
            yield Finding(one.kind, one.place, one.line, one.rule, one.fingerprint, since, one.why)

    def _in(self, item: Item) -> Iterator[Finding]:
        if item.name:
            name = View("", item.name.encode(errors="surrogateescape"), 0)
            yield from self._in_view(name, item.name, f"the name of {item.place}")
        for view in views(item.name, item.content):
            part = view.place if isinstance(view, NotRead) else view.part
            place = _joined(item.place, part)
            if isinstance(view, NotRead):
                yield Finding("unreadable", self._masked(place), why=view.why)
            else:
                yield from self._in_view(view, _joined(item.name, part), place)

    def _in_view(self, view: View, path: str, place: str) -> Iterator[Finding]:
        for detector in self.detectors:
            for match in detector.matches(view.text, path):
                line = view.line + view.text.count(b"\n", 0, match.start) if view.line else 0
                fingerprint = self.fingerprints.of(match.kind, match.value)
                finding = Finding(match.kind, self._masked(place), line, match.rule, fingerprint)
                yield from self.allowances.judge(finding, view.text, match)

    def _masked(self, place: str) -> str:
        """Return a place without what must not be public: the names of files are in reports and logs, too."""
        text = place.encode(errors="surrogateescape")
        if not (found := self._matches(text)):
            return place
        masked, end = b"", 0
        for one in found:
            if one.start >= end:
                masked += text[end : one.start] + f"[{one.kind}]".encode()
            end = max(end, one.end)
        masked += text[end:]
        if self._matches(masked):
            return f"a place whose name has a {found[0].kind} in it"
        return masked.decode(errors="surrogateescape")

    def _matches(self, text: bytes) -> list[Match]:
        found = (match for detector in self.detectors for match in detector.matches(text, ""))
        return sorted(found, key=lambda one: one.start)


def _joined(*parts: str) -> str:
    return "!".join(filter(None, parts))


def text_item(place: str, text: bytes) -> Item:
    """Return a text as an item."""
    return Item(place, "", len(text), BytesIO(text))
