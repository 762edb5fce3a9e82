"""Everything planted is found, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import pytest

from orrery.scanner.allowances import Allowances
from orrery.scanner.findings import ScanFinding
from tests.scanner.corpus.measured import HARMLESS, PLANTED, found_in, scan
from tests.scanner.corpus.words import POLICY
from tests.support.tables import each_case

LEAST = 60


@pytest.fixture(scope="module")
def found() -> Mapping[str, Sequence[ScanFinding]]:
    """Return what is found in each file of the corpus, which is searched once."""
    searching = scan()
    contents = {name: content for name, (content, _) in PLANTED.items()} | HARMLESS
    return {name: found_in(searching, name, content) for name, content in contents.items()}


def test_there_is_enough_of_it() -> None:
    """At least sixty leaks, and sixty near misses."""
    assert len(PLANTED) >= LEAST
    assert len(HARMLESS) >= LEAST


@each_case("name", PLANTED)
def test_what_is_planted_is_found(found: Mapping[str, Sequence[ScanFinding]], name: str) -> None:
    """Its kinds are found, and no other."""
    assert {one.kind for one in found[name]} == PLANTED[name][1]


@each_case("name", HARMLESS)
def test_a_near_miss_is_none(found: Mapping[str, Sequence[ScanFinding]], name: str) -> None:
    """Nothing is found."""
    assert found[name] == []


def test_no_finding_has_a_term_in_it(found: Mapping[str, Sequence[ScanFinding]]) -> None:
    """Neither the report nor what Python prints of a finding has a term, a tenant or an address in it."""
    said = "".join(map(repr, found.values())).casefold()
    hidden = [term.text for term in POLICY.terms] + sorted(POLICY.internal_tenants | POLICY.addresses)
    assert [one for one in hidden if one.casefold() in said] == []


ALLOWED = '<!-- orrery:allow person until=2026-12-31 reason="she agreed" -->'


@pytest.mark.parametrize(
    ("name", "text", "kinds"),
    [
        ("a.html", f"{ALLOWED}\n<p>Ada Quillfeather</p>", set[str]()),
        ("a.html", f"{ALLOWED}\n<p>Ada Quillfeather</p>\n<p>Ada Quill<b>feather</b></p>", {"person"}),
        (f"{ALLOWED}/Ada Quillfeather.txt", "Hello", {"person"}),
    ],
)
def test_an_allowance_lifts_its_finding_alone(name: str, text: str, kinds: set[str]) -> None:
    """The same name elsewhere is found, and a file does not allow its own name."""
    searching = replace(scan(), allowances=Allowances(today=date(2026, 11, 23)))
    assert {one.kind for one in found_in(searching, name, text.encode())} == kinds
