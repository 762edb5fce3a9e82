"""Texts that are searched together: nothing is missed that is found in each by itself."""

import random

from orrery.scanner.batches import Batch, Subject, TextOfItem
from orrery.scanner.detectors.all import detectors
from orrery.scanner.detectors.secret_format import read
from orrery.scanner.detectors.secrets import SecretDetector
from orrery.scanner.findings import Detector, Match
from orrery.scanner.policy import Policy, Term
from orrery.scanner.unpack.view import View
from tests.support.tables import each_case

TERMS = ("Zanzibrook Holdings", "Борисов Групп", "三菱", "Мир", "Zürn", "COPA")
BINARY = bytes(range(32)) * 10
FILLS = (b"", b"lorem ipsum " * 20, "Привет мир ".encode() * 9, "größe ".encode("latin-1") * 9, BINARY)

UNFINISHED = '[[rules]]\nid = "late"\nregex = "token[\\\\s\\\\S]{0,99}(key_[0-9]+)"\n'
STOPPED = '[[rules]]\nid = "pair"\nregex = "begin([^.]+)[.]"\n[[rules.allowlists]]\nstopwords = ["example"]\n'
OF_TEXTS = "[[rules]]\nid = \"whole\"\nregex = '\\Akey_[0-9]+\\z'\n"
ANCHORED = "[[rules]]\nid = \"first\"\nregex = '^key_[0-9]+'\n"
OF_PATH = "[[rules]]\nid = \"file\"\npath = '^2$'\nregex = '\\A\\S+'\n"


def together(every: list[Detector], texts: list[bytes]) -> set[tuple[int, Match]]:
    """Return what is found in texts that are searched together, each with the number of its text, its path."""
    batch = Batch(every)
    for number, text in enumerate(texts):
        batch.add(TextOfItem(Subject(str(number), "", ""), View("", text, 1), str(number), ""))
    return {(int(one.path), match) for one, match in batch.matches()}


def alone(every: list[Detector], texts: list[bytes]) -> set[tuple[int, Match]]:
    """Return what is found in each text by itself."""
    return {
        (number, match)
        for number, text in enumerate(texts)
        for one in every
        for match in one.matches(text, str(number))
    }


@each_case(
    ("term", "texts"),
    [
        ("三菱", ["三菱\n日立\n".encode(), b"x"]),
        ("Zürn", ["Zürn".encode("latin-1"), b"x"]),
        ("Zürn", ["Zürn und mehr".encode("latin-1"), BINARY]),
        ("Zanzibrook", [b"\1\2\3\xe9Zanzibrook\xe9\4", b"a" * 3000]),
        ("COPA", ["Привет друг".encode(), "\u0421\u041e\u0420\u0410".encode(), "Привет друг".encode()]),
    ],
)
def test_a_neighbour_does_not_change_how_a_text_is_read(term: str, texts: list[bytes]) -> None:
    """A short term, or one in another encoding, is found beside whatever else is searched with it."""
    every: list[Detector] = [*detectors(Policy(terms=(Term("customer", term),)))]
    assert together(every, texts) == alone(every, texts) != set()


@each_case(
    ("rule", "texts"),
    [
        (UNFINISHED, [b"token key_1", b"key_2"]),
        (STOPPED, [b"begin example", b"begin abc."]),
        (ANCHORED, [b"other", b"key_1"]),
        (OF_TEXTS, [b"other", b"key_1", b"other"]),
        (OF_PATH, [b"other", b"other", b"value"]),
    ],
)
def test_a_rule_sees_the_bounds_of_each_text(rule: str, texts: list[bytes]) -> None:
    """A match that begins in one text and ends in another hides none, and an anchor is the start of a text."""
    every: list[Detector] = [SecretDetector(read(rule.encode(), "rules.toml").rule_set())]
    assert together(every, texts) == alone(every, texts) != set()


def test_random_texts_together_give_what_they_give_alone() -> None:
    """Whatever stands beside whatever: what is found does not depend on the neighbours."""
    made = random.Random(7)  # noqa: S311  not for a secret
    every: list[Detector] = [*detectors(Policy(terms=tuple(Term("customer", one) for one in TERMS)))]
    for _ in range(20):
        texts = [
            made.choice(FILLS)
            + made.choice(TERMS).encode(made.choice(["utf-8", "utf-16-le"]))
            + made.choice(FILLS)
            for _ in range(6)
        ]
        assert together(every, texts) == alone(every, texts)
