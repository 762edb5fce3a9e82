"""The baseline: findings that may stay, each by its keyed fingerprint, with a reason and until a day."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast, get_args

from orrery.errors import Invalid
from orrery.scanner.findings import Finding, Kind

LONGEST = timedelta(days=366)
"""How far ahead an allowance may end: what may stay for longer is looked at again after a year."""

NEVER: frozenset[Kind] = frozenset(
    {"customer", "domain", "address", "label-site", "track-label", "canary", "unreadable", "allowance"}
)
"""What nothing allows: a customer (spec 3, Authentication 4), and each kind that one may hide in.

A watched domain or address may be a customer's; a label or a canary says that the whole document is track A's; and
nobody knows what is in a file that could not be read.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)

_FINGERPRINT = re.compile(r"[0-9a-f]{12}")
_HEADING = re.compile(r"^[ \t]*\[\[[ \t]*allowed[ \t]*\]\]", re.MULTILINE)
_KEYS = frozenset({"fingerprint", "kind", "place", "reason", "until"})


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One finding that may stay; `place` is a path, or a pattern with `*` and `?`."""

    fingerprint: str
    kind: str
    place: str
    reason: str
    until: date | None

    def allows(self, finding: Finding) -> bool:
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
    refused: tuple[Finding, ...] = ()


def read_baseline(file: Path, today: date) -> Baseline:
    """Return the baseline in a file; raise `Invalid` when it cannot be read."""
    text = _text(file)
    lines = [text.count("\n", 0, found.start()) + 1 for found in _HEADING.finditer(text)]
    numbered = dict(enumerate(lines))
    counting: list[BaselineEntry] = []
    refused: list[Finding] = []
    for number, entry in enumerate(_entries(file, text)):
        if why := entry.why_refused(today):
            said = f"Entry {number + 1} of the baseline does not count: {why}."
            refused.append(Finding("allowance", str(file), numbered.get(number, 0), why=said))
        else:
            counting.append(entry)
    return Baseline(str(file), tuple(counting), tuple(refused))


def _text(file: Path) -> str:
    try:
        if file.is_file() or not file.exists():
            return file.read_bytes().decode()
        said = "it is no file"
    except OSError as error:
        said = error.strerror
    except UnicodeDecodeError:
        said = "it is not UTF-8"
    raise Invalid(f"The baseline {file} cannot be read: {said}.")


def _entries(file: Path, text: str) -> list[BaselineEntry]:
    try:
        document: dict[str, object] = tomllib.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(f"The baseline {file} is not TOML.") from None
    given = document.pop("allowed", [])
    if document or not isinstance(given, list):
        raise Invalid(f"The baseline {file} holds something else than [[allowed]].")
    return [_entry(file, number, one) for number, one in enumerate(cast("list[object]", given), 1)]


def _entry(file: Path, number: int, given: object) -> BaselineEntry:
    fields = cast("dict[str, object]", given) if isinstance(given, dict) else {"": ""}
    if fields.keys() - _KEYS:
        raise Invalid(f"Entry {number} of the baseline {file} has a key other than {', '.join(sorted(_KEYS))}.")
    until = fields.pop("until", None)
    if until is not None and type(until) is not date:
        raise Invalid(f"Entry {number} of the baseline {file} has a wrong until: write a day, as 2027-01-31.")
    texts = {name: fields.get(name, "") for name in _KEYS - {"until"}}
    if not all(isinstance(one, str) for one in texts.values()):
        raise Invalid(f"Entry {number} of the baseline {file} has a value that is not a string.")
    if texts["kind"] not in KINDS:
        raise Invalid(f"Entry {number} of the baseline {file} has none of the kinds {', '.join(KINDS)}.")
    return BaselineEntry(**cast("dict[str, str]", texts), until=until)
