"""Canary tokens: words that are put into internal documents, and known again wherever they come out.

A token is 16 letters and digits by turns, `K4T7-Q2X9-M8T6-F3W5`, so that it passes for a reference number, can be
typed, and ordinary text has none of its form. Half of it is a checksum: of the words of this form one in
1,600,000,000 is taken for a token. So no list of tokens is needed, and no key.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from orrery.scanner.detectors.hints import CANARY
from orrery.scanner.detectors.reading import Reading
from orrery.scanner.detectors.searching import Occurrence

LETTERS = "ABCDEFGHJKMNPQRTVWXY"
"""Without those that are easily taken for a digit or for each other."""

DIGITS = "0123456789"

PAIRS = 8
"""Pairs of a letter and a digit: a half of them is random, and a half is the checksum."""

_HALF = PAIRS // 2
_VALUES = (len(LETTERS) * len(DIGITS)) ** _HALF
_BREAK = r"[\s_.-]{0,3}"
_PAIR = f"[{LETTERS}{LETTERS.lower()}]{_BREAK}[0-9]"
_WORD = re.compile(rf"(?<![A-Za-z0-9]){_BREAK.join([_PAIR] * PAIRS)}(?![A-Za-z0-9])")
_BETWEEN = re.compile(r"[\s_.-]")


def new_canary(random_bytes: bytes) -> str:
    """Return the token that random bytes give; at least 8 are needed."""
    if len(random_bytes) < _HALF * 2:
        raise ValueError(f"A canary token needs at least {_HALF * 2} random bytes.")
    word = _word(int.from_bytes(random_bytes, "big") % _VALUES)
    whole = word + _checksum(word)
    return "-".join(whole[at : at + 4] for at in range(0, len(whole), 4))


def is_canary(word: str) -> bool:
    """Return whether a word is a canary token, in any case and however it is broken."""
    plain = _BETWEEN.sub("", word).upper()
    return (
        len(plain) == 2 * PAIRS
        and all(one in (DIGITS if at % 2 else LETTERS) for at, one in enumerate(plain))
        and _checksum(plain[:PAIRS]) == plain[PAIRS:]
    )


def _word(number: int) -> str:
    made = ""
    for _ in range(_HALF):
        number, digit = divmod(number, len(DIGITS))
        number, letter = divmod(number, len(LETTERS))
        made += LETTERS[letter] + DIGITS[digit]
    return made


def _checksum(word: str) -> str:
    digest = sha256(b"orrery canary\0" + word.encode()).digest()
    return _word(int.from_bytes(digest[:16], "big") % _VALUES)


def canaries(readings: Sequence[Reading]) -> Iterator[Occurrence]:
    """Yield the canary tokens in a block."""
    for reading in (one for one in readings if CANARY in one.hints):
        found = _WORD.search(reading.text)
        while found:
            start, end = found.span()
            counts = reading.judges(start, end) and is_canary(found[0])
            if counts:
                yield Occurrence("canary", reading, start, end, _BETWEEN.sub("", found[0]).upper())
            found = _WORD.search(reading.text, end if counts else start + 1)
