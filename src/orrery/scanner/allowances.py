"""What may stay although it was found: with a reason, and until a day."""

from collections.abc import Iterator
from dataclasses import dataclass

from orrery.scanner.findings import Finding, Match


@dataclass(frozen=True, slots=True)
class Allowances:
    """The baseline, and the allowances beside a finding in its text."""

    def judge(self, finding: Finding, text: bytes, match: Match) -> Iterator[Finding]:
        """Yield the finding unless it is allowed, and one of its own for an allowance that does not count."""
        del text, match
        yield finding
