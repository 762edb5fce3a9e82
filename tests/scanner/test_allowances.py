"""Allowances in a text: what they need, and what they cannot allow."""

from datetime import date
from typing import get_args

from orrery.scanner.allowances import Allowances
from orrery.scanner.baseline import NEVER
from orrery.scanner.findings import Kind, Match, ScanFinding
from tests.support.tables import each_case

TODAY = date(2026, 11, 23)
GOOD = 'orrery:allow push-token until=2027-01-31 reason="made up"'


def judged(text: str, kind: Kind = "secret", rule: str = "push-token") -> list[tuple[str, int, str]]:
    """Return the findings that are left of one at the word `found`: their kinds, lines and whys."""
    start = text.index("found")
    match = Match(kind, start, start + 5, "the value", rule)
    finding = ScanFinding(kind, "a.py", text[:start].count("\n") + 1, rule)
    left = Allowances(today=TODAY).judge(finding, text.encode(), match)
    return [(one.kind, one.line, one.why.removeprefix("This allowance does not count: ")) for one in left]


@each_case(
    "text",
    [
        f"found  # {GOOD}",
        f"# {GOOD}\nfound",
        f"<!-- {GOOD} -->\nfound",
        f"/* {GOOD} */ found\n",
        f"first\n-- {GOOD}\r\nfound\r\nlast",
        'found ; ORRERY orrery:allow secret reason="made up" until=2027-01-31',
        "found // orrery:allow SECRET until='2027-01-31' reason='made up'",
        '"key": "found", "//": "orrery:allow secret until=2027-01-31 reason=\\"made up\\""',
        f'found  # orrery:allow tenant-id until=2027-01-31 reason="another" {GOOD}',
        f"found  # {GOOD.replace('2027-01-31', '2026-11-23')}",
        f"found  # {GOOD.replace('2027-01-31', '2027-11-23')}",
    ],
)
def test_an_allowance_that_counts(text: str) -> None:
    """In whatever comment, in the line or the one above, by kind or rule, to the end of its last day."""
    assert judged(text) == []


@each_case(
    "text",
    [
        "found",
        f"# {GOOD}\n\nfound",
        f"found\n# {GOOD}",
        f"found  # {GOOD.replace('push-token', 'tenant-id')}",
        f"found  # {GOOD.replace('push-token ', '')}",
        f"found  # {GOOD.replace('push-token', 'push-tokens')}",
        "found  # orrery:allow",
        f"{GOOD}{' ' * 5000}found",
    ],
)
def test_what_is_no_allowance_of_it(text: str) -> None:
    """One that is farther away, or for something else, changes nothing."""
    assert [kind for kind, _, _ in judged(text)] == ["secret"]


@each_case(
    ("allowance", "why"),
    [
        ("orrery:allow secret until=2027-01-31", "it gives no reason."),
        ('orrery:allow secret until=2027-01-31 reason=""', "it gives no reason."),
        ('orrery:allow secret until=2027-01-31 reason="  "', "it gives no reason."),
        ("orrery:allow secret until=2027-01-31 reason=why", "it gives no reason."),
        ('orrery:allow secret reason="why"', "it has no day until which it counts, such as 2027-01-31."),
        (
            'orrery:allow secret until=soon reason="why"',
            "it has no day until which it counts, such as 2027-01-31.",
        ),
        (
            'orrery:allow secret until=2027-02-30 reason="why"',
            "it has no day until which it counts, such as 2027-01-31.",
        ),
        ('orrery:allow secret until=2026-11-22 reason="why"', "it expired on 2026-11-22."),
        ('orrery:allow secret until=2027-11-25 reason="why"', "its last day is more than a year ahead."),
    ],
)
def test_an_allowance_that_does_not_count(allowance: str, why: str) -> None:
    """It is a finding of its own beside the finding, which says what is missing, in its own line."""
    assert judged(f"# {allowance}\nfound") == [("secret", 2, ""), ("allowance", 1, why)]


@each_case("kind", sorted(NEVER - {"unreadable", "allowance"}))
def test_what_nothing_allows(kind: Kind) -> None:
    """A customer, and what one may hide in, stays a finding; the allowance is one, too."""
    left = judged(f'# orrery:allow {kind} until=2027-01-31 reason="why"\nfound', kind, "")
    assert left == [
        (kind, 2, ""),
        ("allowance", 1, f"a finding of the kind {kind} cannot be allowed: take it out."),
    ]


def test_what_can_be_allowed() -> None:
    """These are the kinds that no customer hides in."""
    assert set(get_args(Kind)) - NEVER == {
        *("person", "project", "tenant-id", "corporate-address", "corporate-domain", "secret"),
    }


def test_without_a_day() -> None:
    """Allowances that do not know the day allow nothing."""
    finding = ScanFinding("secret", "a.py", 1, "push-token")
    left = Allowances().judge(finding, f"x {GOOD}".encode(), Match("secret", 0, 1, "x"))
    assert [one.kind for one in left] == ["secret", "allowance"]


def test_a_text_without_lines() -> None:
    """What is wrong with an allowance has no line where the finding has none."""
    finding = ScanFinding("secret", "a.docx", 0, "push-token")
    left = Allowances(today=TODAY).judge(finding, b"orrery:allow secret\nx", Match("secret", 20, 21, "x"))
    assert [(one.kind, one.line) for one in left] == [("secret", 0), ("allowance", 0)]


def test_nothing_repeats_what_an_allowance_says() -> None:
    """Its reason may name somebody."""
    text = '# orrery:allow secret reason="it is of Contoso" until=2020-01-01\nfound'
    assert "Contoso" not in str(judged(text))
