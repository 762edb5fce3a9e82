"""Everything planted is found, and nothing else."""

import pytest

from orrery.scanner.scanning import Scan
from tests.scanner.corpus.measured import HARMLESS, PLANTED, found_in, kinds_in, scan
from tests.scanner.corpus.words import POLICY

LEAST = 60


@pytest.fixture(scope="module")
def searching() -> Scan:
    """Return the scan of the corpus, which is composed once."""
    return scan()


def test_there_is_enough_of_it() -> None:
    """At least sixty leaks, and sixty near misses."""
    assert len(PLANTED) >= LEAST
    assert len(HARMLESS) >= LEAST


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(searching: Scan, name: str) -> None:
    """Its kinds are found, and no other."""
    content, kinds = PLANTED[name]
    assert kinds_in(searching, name, content) == kinds


@pytest.mark.parametrize("name", HARMLESS)
def test_a_near_miss_is_none(searching: Scan, name: str) -> None:
    """Nothing is found."""
    assert found_in(searching, name, HARMLESS[name]) == []


def test_no_finding_has_a_term_in_it(searching: Scan) -> None:
    """Neither the report nor what Python prints of a finding has a term, a tenant or an address in it."""
    said = "".join(
        repr(one) for name, (content, _) in PLANTED.items() for one in found_in(searching, name, content)
    )
    hidden = [term.text for term in POLICY.terms] + sorted(POLICY.internal_tenants | POLICY.addresses)
    assert [one for one in hidden if one.casefold() in said.casefold()] == []
