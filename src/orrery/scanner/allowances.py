"""What may stay although it was found: with a reason, and until a day.

In a text it is a comment in the line of the finding, or in the line above:
`orrery:allow secret until=2027-01-31 reason="made up"`, with the kind of the finding or the id of its rule.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from orrery.scanner.baseline import Baseline, why_refused
from orrery.scanner.findings import Match, ScanFinding

REACH = 4 * 1024
"""Bytes on each side of a finding's first byte in which an allowance is looked for: a line can be a whole file."""

_MARK = b"orrery:allow"
_NAMED = re.compile(rb"[ \t:]+([A-Za-z0-9_.-]+)(?![A-Za-z0-9_.=-])")
_UNTIL = re.compile(rb"\buntil=[\"']?(\d{4}-\d{2}-\d{2})(?!\d)")
_REASON = re.compile(rb"\breason=\\?(?:\"([^\"\\]*)|'([^'\\]*))")


@dataclass(frozen=True, slots=True)
class Allowances:
    """The baseline, and the allowances beside a finding in its text.

    `today` decides what has expired: without a day everything has.
    """

    baseline: Baseline = field(default_factory=Baseline)
    today: date = date.max
    _numbers: dict[str, list[int]] = field(default_factory=dict[str, list[int]], repr=False, compare=False)
    _used: set[int] = field(default_factory=set[int], repr=False, compare=False)

    def __post_init__(self) -> None:
        for number, one in enumerate(self.baseline.entries):
            self._numbers.setdefault(one.fingerprint, []).append(number)

    def judge(self, finding: ScanFinding, text: bytes, match: Match) -> Iterator[ScanFinding]:
        """Yield the finding unless it is allowed, and another finding for an allowance that does not count."""
        if self._is_in_baseline(finding):
            return
        refused: list[ScanFinding] = []
        for line, allowance in _beside(text, match.start):
            if _name(allowance) in {finding.kind, finding.rule.lower()}:
                why = why_refused(finding.kind, _reason(allowance), _until(allowance), self.today)
                if not why:
                    return
                at = finding.line + line if finding.line else 0
                why = f"This allowance does not count: {why}."
                refused.append(ScanFinding("allowance", finding.place, at, finding.rule, why=why))
        yield finding
        yield from refused

    def unused(self) -> tuple[str, ...]:
        """Return a sentence for each entry of the baseline that no finding matched, after a scan of everything."""
        return tuple(
            f"Nothing matches the entry {one.fingerprint} ({one.kind}, {one.place}) of the baseline any more."
            for number, one in enumerate(self.baseline.entries)
            if number not in self._used
        )

    def _is_in_baseline(self, finding: ScanFinding) -> bool:
        entries = self.baseline.entries
        numbers = [one for one in self._numbers.get(finding.fingerprint, ()) if entries[one].allows(finding)]
        self._used.update(numbers)
        return bool(numbers)


def _beside(text: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield the allowances in the line of a byte and in the one above, each with 0 or -1 for its line."""
    before = text[max(0, start - REACH) : start].split(b"\n")
    after = text[start : start + REACH].partition(b"\n")[0]
    lines = {-1: before[-2] if len(before) > 1 else b"", 0: before[-1] + after}
    for number, line in lines.items():
        yield from ((number, allowance) for allowance in line.split(_MARK)[1:])


def _name(allowance: bytes) -> str:
    named = _NAMED.match(allowance)
    return named[1].decode().lower() if named else ""


def _until(allowance: bytes) -> date | None:
    found = _UNTIL.search(allowance)
    try:
        return date.fromisoformat(found[1].decode()) if found else None
    except ValueError:
        return None


def _reason(allowance: bytes) -> str:
    found = _REASON.search(allowance)
    return (found[1] or found[2] or b"").decode(errors="replace") if found else ""
