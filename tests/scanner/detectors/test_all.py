"""All detectors on hostile input, and what they say of themselves."""

from base64 import b64encode
from random import Random

import pytest

from orrery.scanner.detectors.all import detectors
from orrery.scanner.policy import Policy, Term
from orrery.scanner.regex import PatternSet, numbers
from tests.support.tables import each_case

CUSTOMER = "Zebulon Works"
POLICY = Policy(
    terms=(
        Term("customer", CUSTOMER),
        Term("person", "Ann"),
        Term("person", "Иван"),
        Term("domain", "corp.example"),
    ),
    internal_tenants=frozenset({"b81d05e7-42fa-4c39-8e67-15d0a9c3f4b2"}),
    addresses=frozenset({"zoe@corp.example"}),
    domains=frozenset({"corp.example"}),
)
MEGABYTE = 2**20
HOSTILE = {
    **{
        unit: unit.encode()
        for unit in ("&#", "&amp;", "%", "%25", "\\u", "\\", "=\n", "[.]", "=41", "<", " at a.")
    },
    **{
        unit: unit.encode()
        for unit in ("a1 ", "ann", "Ann ", "zebulon ", "corp.", "a\0", "aA", "0x1,", "tid=", "track:")
    },
    **{
        unit: unit.encode()
        for unit in ("eyJ", "0123456789abcdef", "-", "\u0301", "\u200b", "И", "日", "\U000e0041")
    },
    **{repr(unit): unit for unit in (b"\xff", b"\xc3", b"\xe2\x80", b"\xed\xa0\x80", b"\0")},
    "entities without an end": b"&#" + b"0" * MEGABYTE,
    "a line without an end": b"x" * MEGABYTE,
    "random octets": Random(1).randbytes(MEGABYTE // 4),  # noqa: S311  the same on each run
    "base64": b64encode(Random(2).randbytes(MEGABYTE // 4)),  # noqa: S311  the same on each run
}


@each_case("name", HOSTILE)
def test_hostile_input_is_searched_to_its_end(name: str) -> None:
    """A term behind it is found."""
    unit = HOSTILE[name]
    text = unit * max(1, MEGABYTE // 8 // len(unit)) + b"\nZebulon Works\n"
    found = [one for detector in detectors(POLICY) for one in detector.matches(text, "")]
    assert "zebulon works" in {one.value for one in found}


def test_no_term_is_in_what_is_said() -> None:
    """Neither in the text of a detector, of what it is made of, nor of a match."""
    (detector,) = detectors(POLICY)
    (match,) = detector.matches(b"zebulon works", "")
    said = f"{detector!r} {detector!s} {vars(detector)!r} {match!r} {POLICY!r}".casefold()
    assert not [one for one in ("zebulon", "corp.example", "b81d05e7") if one in said]


def test_a_pattern_that_cannot_be_compiled_is_not_named() -> None:
    """An error without its cause, which has them."""
    with pytest.raises(ValueError, match="cannot be compiled") as raised:
        _ = PatternSet([b"zebulon(works"])
    assert raised.value.__suppress_context__
    assert "zebulon" not in str(raised.value)


def test_a_search_without_memory_loses_nothing() -> None:
    """Then its parts are searched, which share what a term has at most; a part that is too small may have all."""

    def match(text: bytes, most: int = 9000) -> list[int] | None:
        return (
            None if len(text) > most else [number for number, word in enumerate((b"one", b"two")) if word in text]
        )

    border = b"x" * 10_000 + b"two" + b"x" * 10_000
    assert numbers(match, border, 2) == {1}
    assert numbers(lambda text: match(text, 10), border, 2) == {0, 1}
