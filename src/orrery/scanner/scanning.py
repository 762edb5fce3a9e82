"""One scan: every text of a source is searched by every detector."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from orrery.ports.scanned import Item, NotRead, Source
from orrery.scanner.allowances import Allowances
from orrery.scanner.batches import Batch, Subject, TextOfItem
from orrery.scanner.findings import Detector, FingerprintKey, Match, ScanFinding
from orrery.scanner.unpack.look import views
from orrery.scanner.unpack.view import View

MOST = 200
"""Findings of one item that are reported: further lines of a list of customers add nothing."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Searches a source. `progress` is called with the number of bytes of each item that was searched."""

    detectors: Sequence[Detector]
    fingerprints: FingerprintKey = field(default_factory=FingerprintKey)
    allowances: Allowances = field(default_factory=Allowances)
    progress: Callable[[int], None] = lambda _: None

    def findings(self, source: Source) -> Iterator[ScanFinding]:
        """Yield what must not be public, and what could not be searched.

        While the main thread reads and unpacks, a second one searches what was unpacked before: RE2 lets both run.
        """
        with ThreadPoolExecutor(1) as aside:
            before = aside.submit(list[tuple[TextOfItem, Match]])
            for one in self._unpacked(source):
                if isinstance(one, ScanFinding):
                    yield one
                    continue
                searched, before = before, aside.submit(one.matches)
                yield from self._found(searched.result(), source)
            yield from self._found(before.result(), source)

    def _unpacked(self, source: Source) -> Iterator[Batch | ScanFinding]:
        """Yield full batches and the last one, and what could not be unpacked."""
        batch = Batch(self.detectors)
        for item in source.items():
            if isinstance(item, NotRead):
                yield ScanFinding("unreadable", self._masked(item.place), why=item.why)
                continue
            for one in self._of_item(item, source):
                if isinstance(one, ScanFinding):
                    yield one
                    continue
                batch.add(one)
                if batch.is_full:
                    yield batch
                    batch = Batch(self.detectors)
            self.progress(item.size)
        yield batch

    def _of_item(self, item: Item, source: Source) -> Iterator[TextOfItem | ScanFinding]:
        subject = Subject(item.place, item.name, item.object)
        if item.name and not item.is_named_elsewhere:
            name = View("", item.name.encode(errors="surrogateescape"), 0)
            yield TextOfItem(subject, name, item.name, f"the name of {item.place}")
        for view in views(item.name, item.content):
            if isinstance(view, NotRead):
                place = self._masked(_joined(item.place, view.place))
                yield from _reported([ScanFinding("unreadable", place, why=view.why)], subject, source)
            else:
                yield TextOfItem(subject, view, _joined(item.name, view.part), _joined(item.place, view.part))

    def _found(self, matches: Sequence[tuple[TextOfItem, Match]], source: Source) -> Iterator[ScanFinding]:
        found = dict[Subject, dict[ScanFinding, None]]()
        places = dict[str, str]()
        for text, match in matches:
            if text.place not in places:
                places[text.place] = self._masked(text.place)
            judged = list(self._judged(text, match, places[text.place]))
            if text.view.line:
                text.subject.note_in_a_line(match, is_allowed=not judged)
            elif not text.subject.is_new_without_a_line(match):
                continue
            found.setdefault(text.subject, {}).update(dict.fromkeys(judged))
        for subject, several in found.items():
            yield from _reported(several, subject, source)

    def _judged(self, text: TextOfItem, match: Match, place: str) -> Iterator[ScanFinding]:
        view = text.view
        line = view.line + view.text.count(b"\n", 0, match.start) if view.line else 0
        fingerprint = self.fingerprints.of(match.kind, match.value)
        finding = ScanFinding(match.kind, place, line, match.rule, fingerprint)
        # What has no lines is a name, or a text made of another one, which has no comments.
        return self.allowances.judge(finding, view.text if view.line else b"", match)

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


def _reported(
    found: Sequence[ScanFinding] | dict[ScanFinding, None], subject: Subject, source: Source
) -> Iterator[ScanFinding]:
    """Yield the findings of one item with the first commit that has it, up to `MOST`."""
    for one in found:
        if subject.reported == MOST:
            why = f"It has {MOST} findings or more; only these are listed."
            yield ScanFinding("unreadable", one.place, why=why)
        subject.reported += 1
        if subject.reported > MOST:
            return
        if subject.since is None:
            subject.since = source.since(subject.object) if subject.object else ""
        yield replace(one, since=subject.since)


def _joined(*parts: str) -> str:
    return "!".join(filter(None, parts))
