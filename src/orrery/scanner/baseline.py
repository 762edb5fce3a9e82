"""The baseline: findings that may stay, each by its keyed fingerprint, with a reason and until a day."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args

from orrery.errors import Invalid
from orrery.scanner.findings import Kind, ScanFinding
from orrery.scanner.toml_tables import parsed

LONGEST = timedelta(days=366)
"""How far ahead an allowance may end: what may stay for longer is looked at again after a year."""

NEVER: frozenset[Kind] = frozenset(
    {"customer", "domain", "address", "label-site", "track-label", "canary", "unreadable", "allowance"}
)
"""What nothing allows: a customer (spec 3, Authentication 4), and each kind that one may hide in.

A watched domain or address may be a customer's; a label or a canary marks the whole document as track A's; and
a file that could not be read may hold anything.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)

_FINGERPRINT = re.compile(r"[0-9a-f]{12}")
_HEADING = re.compile(r"^[ \t]*\[\[[ \t]*allowed[ \t]*\]\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One finding that may stay; `place` is a path, or a pattern with `*` and `?`."""

    fingerprint: str
    kind: str
    place: str
    reason: str
    until: date | None

    def allows(self, finding: ScanFinding) -> bool:
        """Return whether a finding is this one."""
        known = (finding.fingerprint, finding.kind) == (self.fingerprint, self.kind)
        return known and (finding.place == self.place or fnmatchcase(finding.place, self.place))

    def why_refused(self, today: date) -> str:
        """Return why this entry does not count, or nothing."""
        if not _FINGERPRINT.fullmatch(self.fingerprint):
            return "it has no fingerprint: only a scan with the watch-list's key makes one"
        if not self.place:
            return "it has no place: name a path, or a pattern such as docs/*"
        return why_refused(self.kind, self.reason, self.until, today)


def why_refused(kind: str, reason: str, until: date | None, today: date) -> str:
    """Return why an allowance does not count, or nothing."""
    if kind in NEVER:
        return f"a finding of the kind {kind} cannot be allowed: take it out"
    if not reason.strip():
        return "it gives no reason"
    if until is None:
        return "it has no day until which it counts, such as 2027-01-31"
    if until < today:
        return f"it expired on {until.isoformat()}"
    if until > today + LONGEST:
        return "its last day is more than a year ahead"
    return ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a baseline that count, and a finding for each one that does not."""

    name: str = ""
    entries: tuple[BaselineEntry, ...] = ()
    refused: tuple[ScanFinding, ...] = ()


def read_baseline(file: Path, today: date) -> Baseline:
    """Return the baseline in a file; raise `Invalid` when it cannot be read."""
    text = _text(file)
    lines = [text.count("\n", 0, found.start()) + 1 for found in _HEADING.finditer(text)]
    numbered = dict(enumerate(lines, 1))
    counting: list[BaselineEntry] = []
    refused: list[ScanFinding] = []
    for number, entry in enumerate(_entries(file, text), 1):
        if why := entry.why_refused(today):
            sentence = f"Entry {number} of the baseline does not count: {why}."
            refused.append(ScanFinding("allowance", str(file), numbered.get(number, 0), why=sentence))
        else:
            counting.append(entry)
    return Baseline(str(file), tuple(counting), tuple(refused))


def _text(file: Path) -> str:
    try:
        if file.is_file() or not file.exists():
            return file.read_bytes().decode()
        reason = "it is no file"
    except OSError as error:
        reason = error.strerror
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    raise Invalid(f"The baseline {file} cannot be read: {reason}.")


def _entries(file: Path, text: str) -> Iterator[BaselineEntry]:
    top = parsed(text.encode(), f"The baseline {file}")
    tables = top.tables("allowed")
    top.no_more()
    for number, table in enumerate(tables, 1):
        table.where = f"Entry {number} of the baseline {file}"
        kind = table.text("kind")
        if kind not in KINDS:
            raise table.refusal(f"has none of the kinds {', '.join(KINDS)}.")
        fingerprint, place, reason = (table.text(key) for key in ("fingerprint", "place", "reason"))
        yield BaselineEntry(fingerprint, kind, place, reason, table.day("until"))
        table.no_more()
