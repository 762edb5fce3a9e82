"""The baseline: what an entry needs, what it allows, and how it is written."""

import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from orrery.errors import Invalid
from orrery.scanner.allowances import Allowances
from orrery.scanner.baseline import read_baseline
from orrery.scanner.findings import Match, ScanFinding
from tests.support.tables import each_case

TODAY = date(2026, 11, 23)
FOUND = ScanFinding("secret", "docs/a.md", 3, "push-token", "0123456789ab")
ENTRY = """[[allowed]]
fingerprint = "0123456789ab"
kind = "secret"
place = "docs/a.md"
reason = "made up"
until = 2027-01-31
"""


def allowances(folder: Path, text: str = ENTRY) -> Allowances:
    """Return the allowances with a baseline."""
    file = folder / "baseline.toml"
    file.write_text(text)
    return Allowances(read_baseline(file, TODAY), TODAY)


def left(allowed: Allowances, finding: ScanFinding) -> list[ScanFinding]:
    """Return what is left of a finding."""
    return list(allowed.judge(finding, b"", Match(finding.kind, 0, 0, "")))


@pytest.mark.parametrize("place", ["docs/a.md", "docs/*", "*.md", "docs/?.md"])
def test_an_entry_allows_its_finding(tmp_path: Path, place: str) -> None:
    """It is known by fingerprint, kind and place."""
    assert left(allowances(tmp_path, ENTRY.replace("docs/a.md", place)), FOUND) == []


@pytest.mark.parametrize(
    "other",
    [
        replace(FOUND, fingerprint="0123456789ac"),
        replace(FOUND, fingerprint=""),
        replace(FOUND, place="docs/b.md"),
        replace(FOUND, kind="tenant-id"),
    ],
    ids=["fingerprint", "no fingerprint", "place", "kind"],
)
def test_an_entry_allows_nothing_else(tmp_path: Path, other: ScanFinding) -> None:
    """Another finding stays one."""
    assert left(allowances(tmp_path), other) == [other]


@each_case(
    ("old", "new", "why"),
    [
        ("2027-01-31", "2026-11-22", "it expired on 2026-11-22"),
        ("2027-01-31", "2028-01-31", "its last day is more than a year ahead"),
        ("until = 2027-01-31\n", "", "it has no day until which it counts, such as 2027-01-31"),
        ('"made up"', '" "', "it gives no reason"),
        ('reason = "made up"\n', "", "it gives no reason"),
        ('"secret"', '"customer"', "a finding of the kind customer cannot be allowed: take it out"),
        ('"secret"', '"canary"', "a finding of the kind canary cannot be allowed: take it out"),
        ('"docs/a.md"', '""', "it has no place: name a path, or a pattern such as docs/*"),
        ('"0123456789ab"', '""', "it has no fingerprint: only a scan with the watch-list's key makes one"),
        ('"0123456789ab"', '"*"', "it has no fingerprint: only a scan with the watch-list's key makes one"),
    ],
)
def test_an_entry_that_does_not_count(tmp_path: Path, old: str, new: str, why: str) -> None:
    """It is a finding that names it, and what it was for stays one."""
    allowed = allowances(tmp_path, f"# two entries\n{ENTRY}\n{ENTRY.replace(old, new)}")
    said = f"Entry 2 of the baseline does not count: {why}."
    assert allowed.baseline.refused == (ScanFinding("allowance", str(tmp_path / "baseline.toml"), 9, why=said),)
    finding = replace(FOUND, kind="customer") if "customer" in new else FOUND
    assert left(allowances(tmp_path, ENTRY.replace(old, new)), finding) == [finding]


@each_case(
    ("text", "said"),
    [
        ("allowed = ", "is not TOML"),
        ("[" * 5000, "is not TOML"),
        ("\udcff", "is not UTF-8"),
        ("allow = 1", "has the unknown key allow"),
        ("allowed = 1", r"has a wrong allowed: it must be tables: \[\[allowed\]\]"),
        ("allowed = [1]", "The baseline .* has a wrong allowed"),
        (f"{ENTRY}why = 'x'", "Entry 1 of the baseline .* has the unknown key why"),
        (ENTRY.replace("2027-01-31", '"2027-01-31"'), "has a wrong until: it must be a day, as 2027-01-31"),
        (ENTRY.replace("2027-01-31", "2027-01-31T00:00:00"), "has a wrong until"),
        (ENTRY.replace('"made up"', "1"), "has a wrong reason: it must be a string"),
        (ENTRY.replace('"secret"', '"secrets"'), "has none of the kinds person, customer"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    """It is refused as a whole."""
    file = tmp_path / "baseline.toml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Invalid, match=said):
        _ = read_baseline(file, TODAY)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    """A baseline that was named must be there, and be a file."""
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("no.toml", "No such file or directory"), ("", "it is no file"), ("pipe", "it is no file")):
        with pytest.raises(Invalid, match=f"The baseline .* cannot be read: {said}."):
            _ = read_baseline(tmp_path / name, TODAY)


def test_an_entry_that_nothing_matches(tmp_path: Path) -> None:
    """It is named after a scan, until something matches it."""
    allowed = allowances(tmp_path)
    said = ("Nothing matches the entry 0123456789ab (secret, docs/a.md) of the baseline any more.",)
    assert (allowed.unused(), left(allowed, FOUND), allowed.unused()) == (said, [], ())
