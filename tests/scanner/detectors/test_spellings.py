"""Random terms, written in every way that the scanner sees through, and in two at once."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.scanner.detectors.all import detectors
from orrery.scanner.detectors.spelling import address_of, value_of, why_unsearchable
from orrery.scanner.policy import Policy, Term
from tests.scanner.detectors.spellings import CHARACTERS, DEFANGED, ENCODINGS, OF_ONE, in_two_encodings, joined

LATIN = st.text("abcdefghiklmnoprstuvwyzäöüßéčłñøå", min_size=4, max_size=9).map(str.capitalize)
CYRILLIC = st.text("абвгдежзиклмнопрстуфхцчшщыэюя", min_size=4, max_size=9).map(str.capitalize)
NAMES = st.lists(LATIN, min_size=1, max_size=3).map(" ".join) | st.lists(CYRILLIC, min_size=1, max_size=2).map(
    " ".join
)
LABEL = st.text("abcdefghiklmnoprstuvwyz0123456789", min_size=3, max_size=8)
DOMAINS = st.lists(LABEL, min_size=1, max_size=2).map(lambda labels: ".".join([*labels, "example"]))
AROUND = st.sampled_from([("", ""), ("zz ", " zz"), ("\n(", ")\n"), ("q='", "'"), ("https://h.test/x/", "?x=1")])


def written(text: str, first: str, second: str, random: Random) -> str:
    """Return a text in two ways: case before characters, then their encodings, and joins, which have their own."""
    ways = {**CHARACTERS, **DEFANGED, **ENCODINGS}
    if first in OF_ONE and second in OF_ONE:
        return in_two_encodings(text, first, second, random)
    for name in sorted({first, second}, key=[*ways].index):
        text = ways[name](text, random) if name != "word joins" else text
    return joined(text, random) if "word joins" in {first, second} else text


def is_found(term: Term, value: str, text: str) -> bool:
    octets = ("first line\n" + text).encode("utf-8", "surrogatepass")
    line = 1 + (text[: len(text) - len(text.lstrip("\n"))]).count("\n")
    matches = [one for one in detectors(Policy(terms=(term,)))[0].matches(octets, "") if one.value == value]
    return any(octets[: one.start].count(b"\n") == line and one.kind == term.kind for one in matches)


PAIRS = st.tuples(st.sampled_from([*CHARACTERS]), st.sampled_from([*CHARACTERS, *ENCODINGS])) | st.tuples(
    st.sampled_from([*OF_ONE]), st.sampled_from([*OF_ONE])
)


@settings(max_examples=250)
@given(NAMES, PAIRS, AROUND, st.randoms(use_true_random=False))
def test_a_name_is_found_however_it_is_written(
    name: str, ways: tuple[str, str], around: tuple[str, str], random: Random
) -> None:
    """Its value is that of the term, and its line is right."""
    term = Term("customer", name)
    if why_unsearchable(term.kind, term.text):
        return
    text = around[0] + written(name, *ways, random) + around[1]
    assert is_found(term, value_of(name), text), ascii(text)


@settings(max_examples=150)
@given(
    DOMAINS,
    st.tuples(st.sampled_from([*DEFANGED]), st.sampled_from(["case", "characters of no width", *ENCODINGS])),
    AROUND,
    st.randoms(use_true_random=False),
)
def test_a_domain_is_found_however_it_is_written(
    domain: str, ways: tuple[str, str], around: tuple[str, str], random: Random
) -> None:
    """With a dot in brackets, and so on."""
    text = around[0] + written(domain, *ways, random) + around[1]
    assert is_found(Term("domain", domain), address_of(domain), text), ascii(text)
