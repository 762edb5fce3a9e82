"""Terms are found alike, whether patterns are made of all of them or of those that may be in a first text."""

from dataclasses import replace

from orrery.scanner.detectors import engine
from orrery.scanner.detectors.all import detectors
from orrery.scanner.policy import Term
from tests.scanner.corpus.texts import LEAKS
from tests.scanner.corpus.words import POLICY
from tests.support.tables import each_case

FEW = replace(POLICY, terms=(*POLICY.terms, Term("project", "AiryOwl")))
OTHERS = tuple(Term("person", f"Vorname{number} Nachname{number}") for number in range(engine.MANY))
MANY = replace(FEW, terms=FEW.terms + OTHERS)
TEXTS = [
    *((name, text) for name, text, _ in LEAKS),
    ("digit", "Ze1tha is here."),
    ("camel", "The airy owl flies."),
]


@each_case(("name", "text"), TEXTS)
def test_a_first_text_misses_nothing(name: str, text: str) -> None:
    """A list with many terms finds in a first text what a list with few finds, and again in a later one."""
    few, many = detectors(FEW), detectors(MANY)
    expected = [match for one in few for match in one.matches(text.encode(), name)]
    assert expected
    assert [match for one in many for match in one.matches(text.encode(), name)] == expected
    for one in many:
        _ = list(one.matches(b"x " * engine.FIRST, name))
    assert [match for one in many for match in one.matches(text.encode(), name)] == expected
