"""The encrypted list: what is in the file, who can open it, and what is said when nobody can."""

import pytest

from orrery.errors import Invalid, NotConfigured
from orrery.scanner.watch_list import (
    MOST_TERMS,
    WatchList,
    WatchListEntry,
    WatchListKeys,
    fingerprint_of,
    is_key,
    new_key,
    opened,
    sealed,
)
from tests.support.tables import each_case

KEYS = WatchListKeys.of(new_key())
LIST = WatchList(
    (
        WatchListEntry("customer", "Northwind", "2026-05-04", "the first"),
        WatchListEntry("person", "Ann Lee", "2026-05-04"),
    )
)


def test_what_was_sealed_is_opened() -> None:
    """Every field comes back, and the file holds none of it in clear; the same list is never the same file."""
    content = sealed(LIST, KEYS)
    assert opened(content, KEYS).entries == LIST.entries
    assert not [word for word in (b"Northwind", b"the first", b"customer", b"2026") if word in content]
    assert content != sealed(LIST, KEYS)


def test_another_key_is_told_from_an_altered_file() -> None:
    """The owner learns which of the two to look for."""
    with pytest.raises(NotConfigured, match="has another key than the secret watch_list_key"):
        opened(sealed(LIST, KEYS), WatchListKeys.of(new_key()))


def test_a_file_is_taken_whole_or_not_at_all() -> None:
    """Whichever byte is altered, and wherever it is cut, the list is refused in a sentence that quotes nothing."""
    content = sealed(LIST, KEYS)
    altered = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in range(len(content))]
    for one in (*altered, *(content[:at] for at in range(len(content))), content + b"x"):
        with pytest.raises(NotConfigured) as refused:
            opened(one, KEYS)
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
        assert not [word for word in ("Northwind", "Ann", "first") if word in repr(refused.value)]


def test_a_newer_version_is_left_alone() -> None:
    """What it wrote is neither read nor taken for damage."""
    content = sealed(LIST, KEYS)
    version = content.index(b"\n") + 1
    with pytest.raises(NotConfigured, match="newer version"):
        opened(content[:version] + b"\x02" + content[version + 1 :], KEYS)


@pytest.mark.parametrize(("text", "other"), [("Northwind Traders", " northwind   TRADERS"), ("STRASSE", "straße")])
def test_spellings_of_one_term_are_one(text: str, other: str) -> None:
    """Case and spaces make neither a second entry nor another fingerprint."""
    both = WatchListEntry("project", text, "d"), WatchListEntry("project", other, "d")
    assert WatchList().with_entries(both).entries == both[:1]
    assert len({fingerprint_of(each, KEYS.fingerprints) for each in both}) == 1


def test_a_term_may_have_two_kinds() -> None:
    """A customer that is a domain as well is two entries with two fingerprints."""
    both = [WatchListEntry("customer", "Acme", "d"), WatchListEntry("domain", "acme", "d")]
    assert len(WatchList().with_entries(both).entries) == 2
    assert len({fingerprint_of(one, KEYS.fingerprints) for one in both}) == 2


def test_a_list_has_a_bound() -> None:
    """One term more than the most is refused as a whole."""
    most = WatchList(tuple(WatchListEntry("project", f"p{number}", "d") for number in range(MOST_TERMS)))
    with pytest.raises(Invalid, match="at most 100,000 terms; nothing was added"):
        most.with_entries([WatchListEntry("project", "one more", "d")])


def test_each_purpose_has_a_key_of_its_own() -> None:
    """Who learns the key of the fingerprints can open no list, and the other way round."""
    assert len({KEYS.fingerprints.key, KEYS.check, KEYS.secret}) == 3
    assert KEYS.fingerprints.key[:8] != KEYS.check
    assert repr(KEYS) == "WatchListKeys()"


def test_nothing_shows_a_term() -> None:
    """Neither an entry nor a list has its terms in its representation."""
    assert not [
        word for word in ("Northwind", "Ann", "first") if word in f"{LIST!r}{LIST.entries!r}{LIST.terms!r}"
    ]


@each_case("text", ["", "short", "x" * 42, "ü" * 43, "x" * 42 + "\n!", "a" * 44, "a" * 43 + "!!!!"])
def test_what_is_no_key(text: str) -> None:
    """Only 32 bytes in the alphabet of a key are one."""
    assert is_key(new_key())
    assert not is_key(text)
