"""The report of a scan: what kind, where, since which commit, and what to do; never what was found."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from orrery.scanner.findings import Kind, ScanFinding
from orrery.syntax.lines import visible

REMEDIES: dict[Kind, str] = {
    "person": "Take the name out, or write a made-up one.",
    "customer": "Take the name out, or write a made-up one. It cannot be allowed.",
    "project": "Take the name out, or write a made-up one.",
    "domain": "Take the domain out, or write one below example.com.",
    "address": "Take the address out, or write one at example.com.",
    "tenant-id": "Write 00000000-0000-0000-0000-000000000000, or the id of your public tenant.",
    "label-site": "Another tenant's sensitivity label is on the document: it is internal. Leave it out.",
    "track-label": "This is about an account of track A, and internal: take all of it out, not the label alone.",
    "corporate-address": "Take the address out, or write one at example.com.",
    "corporate-domain": "Take the domain out, or write one below example.com.",
    "canary": "A canary token is in internal documents only: find out how its text came here, and take that out.",
    "secret": "Revoke the secret first, then take it out. Who has read it once may have kept it.",
    "unreadable": "What cannot be searched cannot be public: see its reason.",
    "allowance": "Correct the allowance, or take out what it allows.",
}
"""What to do about each kind."""

HISTORY = """\
A commit keeps what a later one takes out. Before a push, change the commit that is named, by git rebase -i.
After a push it counts as public: notify those whom it concerns, and revoke secrets. Then rewrite the history by
git filter-repo (--path FILE --invert-paths, or --replace-text), push it with --force, and ask the host to delete
what it has kept."""
"""How to take something out of a history."""

_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


@dataclass(slots=True)
class SearchedAmount:
    """How much was searched."""

    items: int = 0
    bytes: int = 0

    def count(self, size: int) -> None:
        """Count an item, by its bytes."""
        self.items += 1
        self.bytes += size

    def __str__(self) -> str:
        return f"{counted(self.items, 'item')}, {size_of(self.bytes)}"


def line_of(finding: ScanFinding) -> str:
    """Return a finding as one line for a person."""
    where = f"{finding.place}:{finding.line}" if finding.line else finding.place
    kind = f"{finding.kind} ({finding.rule})" if finding.rule else finding.kind
    further = [
        finding.why,
        finding.fingerprint and f"fingerprint {finding.fingerprint}",
        finding.since and f"since {finding.since}",
    ]
    return visible("  ".join([f"{kind:<18}", where, *filter(None, further)]))


def json_of(finding: ScanFinding) -> str:
    """Return a finding as a line of JSON."""
    return json.dumps({**asdict(finding), "do": REMEDIES[finding.kind]}).replace("\x7f", "\\u007f")


def summary(findings: Sequence[ScanFinding], searched: SearchedAmount, notes: Iterable[str]) -> Iterator[str]:
    """Yield the lines behind the findings."""
    kinds: list[Kind] = list(dict.fromkeys(one.kind for one in findings))
    if kinds:
        yield ""
    for kind in kinds:
        yield f"{kind}: {REMEDIES[kind]}"
    if any(one.since for one in findings):
        yield from ("", *HISTORY.splitlines(), "")
    if findings:
        places = len({one.place for one in findings})
        yield f"{counted(len(findings), 'finding')} in {counted(places, 'place')}, of {searched}."
    else:
        yield f"Nothing was found in {searched}."
    yield from notes


def json_summary(
    findings: Sequence[ScanFinding], searched: SearchedAmount, notes: Iterable[str], *, knows_names: bool
) -> str:
    """Return the last line of JSON."""
    counts = {"findings": len(findings), "items": searched.items, "bytes": searched.bytes}
    return json.dumps({**counts, "watch_list": knows_names, "notes": list(notes)})


def counted(number: int, word: str) -> str:
    """Return a number with its word, such as `1 item` or `2,041 items`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def size_of(number: int) -> str:
    """Return a number of bytes as a person reads it."""
    for size, unit in _SIZES:
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return counted(number, "byte")
