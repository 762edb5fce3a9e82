"""The search for secrets: in long texts, in odd ones, and without telling what was found."""

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orrery.scanner.detectors.secret_format import read
from orrery.scanner.detectors.secret_rules import RuleMatch
from orrery.scanner.detectors.secrets import PIECE, REACH, SecretDetector
from orrery.scanner.regex import PaddedRegex, PatternSet, Prefilter, of_rule
from tests.support.tables import each_case

RULES = """
[[rules]]
id = "padded"
regex = '(?i)[a-z.]{0,9}?key = "([a-z0-9]{8,})"'
keywords = ["key"]

[[rules]]
id = "lines"
regex = '-----BEGIN\\n[a-z\\n]{10,}-----END'

[[rules]]
id = "long"
regex = 'long_[a-z0-9]+'

[[rules]]
id = "word"
regex = '\\btk_[a-z]{4}\\b'
keywords = ["tk_"]
"""
DETECTOR = SecretDetector(read(RULES.encode(), "rules.toml").rule_set())

SECRETS = ['My.KEY = "abcdefgh1"', "-----BEGIN\n" + "abcde\n" * 1300 + "-----END", "tk_abcd"]
VALUES = ["abcdefgh1", SECRETS[1], "tk_abcd"]


def values(text: bytes) -> list[str]:
    """Return the secrets of a text."""
    return [one.value for one in DETECTOR.matches(text, "a.txt")]


@each_case(("secret", "value"), list(zip(SECRETS, VALUES, strict=True)))
@each_case("behind", [0, 1, 30, 4000, REACH - 200])
def test_a_secret_across_two_pieces(secret: str, value: str, behind: int) -> None:
    """It is found once and whole, wherever the text is cut to be searched."""
    start = max(0, PIECE - behind)
    text = b"." * (start - 1) + b" " + secret.encode() + b" " + b"." * PIECE
    assert values(text) == [value]


def test_a_long_secret_near_the_end_of_what_is_asked_at_once() -> None:
    """It is not cut."""
    secret = "long_" + "ab1" * 1000
    assert values(b"." * (PIECE + REACH - 1500) + secret.encode()) == [secret]


def test_a_place_in_a_text() -> None:
    """A match is where the secret is."""
    text = b'a\nkey = "abcdefgh1"\n'
    assert [text[one.start : one.end] for one in DETECTOR.matches(text, "a.txt")] == [b"abcdefgh1"]


PARTS = st.sampled_from(
    [*SECRETS[::2], "-----BEGIN\nabcdefghij-----END", "key", "=", '"', " ", "\n", "é", "tk_", "x.y"]
)


@settings(max_examples=60)
@given(st.lists(PARTS, max_size=30).map("".join))
def test_the_fast_search_finds_what_the_rules_match(text: str) -> None:
    """What the rules' own regular expressions match in a text is what is found."""
    patterns = {
        "padded": r'(?i)[a-z.]{0,9}key = "(?P<s>[a-z0-9]{8,})"',
        "lines": r"(?P<s>-----BEGIN\n[a-z\n]{10,}-----END)",
        "word": r"(?P<s>\btk_[a-z]{4}\b)",
    }
    expected = [
        (found.start(1), rule)
        for rule, pattern in patterns.items()
        for found in of_rule(pattern).finditer(text.encode())
    ]
    assert [(one.start, one.rule) for one in DETECTOR.matches(text.encode(), "a.txt")] == sorted(expected)


PADS = [
    "(?i)[a-z.]{0,3}?key",
    "[a-z.]{0,3}key|=",
    r"[\]a]{0,2}x",
    "[é.]{0,3}?x",
    r"[a-z]{0,3}?\b",
    "[a-z]{0,3}?|key",
]


@pytest.mark.parametrize("pattern", PADS)
@settings(max_examples=40)
@example("éééx", 0, 20)
@given(text=st.text("aé.keyx=] ", max_size=12), pos=st.integers(0, 4), end=st.integers(3, 20))
def test_a_beginning_that_may_be_empty(pattern: str, text: str, pos: int, end: int) -> None:
    """The faster search finds the same places as the engine's."""
    padded, plain = of_rule(pattern), of_rule(pattern.replace("[", "(?:)[", 1))
    assert isinstance(padded, PaddedRegex)
    assert not isinstance(plain, PaddedRegex)
    given_text = text.encode()
    start = min(pos, len(given_text))
    places = [
        [(one.start(), one.end()) for one in regex.finditer(given_text, start, min(end, len(given_text)))]
        for regex in (padded, plain)
    ]
    assert places[0] == places[1]


@each_case(
    "text",
    [
        b"",
        b"\xff\xfe\x00" * 1000 + b" tk_abcd " + bytes(range(256)),
        b"x" * 1024 * 1024 + b" tk_abcd " + b"x" * 1024 * 1024,
        b"tk_" * 400_000 + b" tk_abcd",
        b'key = "' * 200_000 + b" tk_abcd",
        b"-----BEGIN\n" * 100_000 + b" tk_abcd",
    ],
)
def test_an_odd_text(text: bytes) -> None:
    """It is searched to its end."""
    assert values(text) == (["tk_abcd"] if text else [])


def named(count: int, letters: int) -> list[str]:
    """Return made-up names."""
    random = Random(18)  # noqa: S311  names, no secrets
    return sorted("".join(random.choices("abcdefghij", k=letters)) for _ in range(count))


def test_what_can_match_by_many_rules() -> None:
    """Of thousands of rules the one that can match is found, and the expression that is there."""
    names = named(5000, 12)
    assert Prefilter([f"{name}=[0-9]+" for name in names])(f"x {names[77]}=1 y".encode()) == {77}
    assert PatternSet([*map(str.encode, names)])(f"x {names[77]} y".encode()) == {77}


def test_too_many_rules_for_the_engine() -> None:
    """Then each rule is tried in each text."""
    names = named(200, 700)
    assert len(Prefilter([f"{name}=[0-9]+" for name in names])(b"x")) == len(names)
    assert len(PatternSet([*map(str.encode, names)], 8 * 2**20)(b"x")) == len(names)


@pytest.mark.parametrize("keyword", ["Q~", "Other"])
def test_a_rule_is_for_texts_with_its_keyword(keyword: str) -> None:
    """In whatever case, also in another piece, and one that is too short for the fast search."""
    rule = f'[[rules]]\nid = "kept"\nregex = \'tk_[a-z]{{4}}\'\nkeywords = ["{keyword}"]\n'
    detector = SecretDetector(read(rule.encode(), "rules.toml").rule_set())
    text = b"tk_abcd" + b"." * 2 * PIECE
    assert not [*detector.matches(text, "a.txt")]
    assert [one.value for one in detector.matches(text + keyword.lower().encode(), "a.txt")] == ["tk_abcd"]


def test_nothing_tells_a_secret() -> None:
    """Neither a match nor the detector holds it in what a log would print."""
    found = list(DETECTOR.matches(b'key = "abcdefgh1"', "a.txt"))
    leak = RuleMatch("padded", 0, b"abcdefgh1", 0, b"abcdefgh1")
    assert "abcdefgh1" not in f"{found}{leak}{DETECTOR}{vars(DETECTOR)}"
