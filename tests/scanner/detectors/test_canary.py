"""Canary tokens."""

from random import Random

import pytest

from orrery.scanner.detectors.canary import DIGITS, LETTERS, canaries, is_canary, new_canary
from orrery.scanner.detectors.searching import SearchDetector
from tests.support.tables import each_case

TOKEN = new_canary(b"12345678")
DETECTOR = SearchDetector(canaries)


def test_a_token_is_known_by_itself() -> None:
    """Every one that is made is one, looks like a reference number, and is a pure function of what is random."""
    random = Random(1)  # noqa: S311  the same on each run
    made = {new_canary(random.randbytes(8)) for _ in range(500)}
    assert len(made) == 500
    assert all(is_canary(one) and len(one) == 19 for one in made)
    assert new_canary(b"12345678") == TOKEN
    with pytest.raises(ValueError, match="8 random bytes"):
        _ = new_canary(b"1234567")


@each_case(
    "text",
    [
        *(TOKEN, TOKEN.lower(), TOKEN.replace("-", ""), TOKEN.replace("-", " "), " ".join(TOKEN), f"A1B2-{TOKEN}"),
        *(TOKEN.replace("-", "\n"), TOKEN[:6] + "-\n" + TOKEN[6:], f"({TOKEN})", f"ref_{TOKEN}_x"),
        *(TOKEN[:3] + "\u200b" + TOKEN[3:], f"&#{ord(TOKEN[0])};" + TOKEN[1:], TOKEN.replace("-", "%2D")),
        *(TOKEN.replace("-", "\u2011"), "".join(chr(ord(one) + 0xFEE0) for one in TOKEN)),
    ],
)
def test_a_token_is_found_however_it_is_written(text: str) -> None:
    """Its value is the same."""
    found = list(DETECTOR.matches(f"zz\nzz {text} zz".encode(), ""))
    assert [one.value for one in found] == [TOKEN.replace("-", "")]


def test_no_other_word_is_a_token() -> None:
    """Not one with a letter changed or two exchanged, a part of a longer word, or one of its form only."""
    letters = TOKEN.replace("-", "")
    changed = [
        letters[:at] + one + letters[at + 1 :]
        for at in range(16)
        for one in (DIGITS if at % 2 else LETTERS)
        if one != letters[at]
    ]
    swapped = [
        letters[:at] + letters[at + 2] + letters[at + 1] + letters[at] + letters[at + 3 :] for at in range(14)
    ]
    random = Random(2)  # noqa: S311  the same on each run
    others = ["".join(random.choice(LETTERS) + random.choice(DIGITS) for _ in range(8)) for _ in range(2000)]
    assert not [one for one in (*changed, *swapped, *others) if one != letters and is_canary(one)]
    text = "\n".join([*changed, *others, f"A{letters}", f"{letters}A", f"1{TOKEN}"]).encode()
    assert list(DETECTOR.matches(text, "")) == []
