"""Terms that are too short for a decoder, in Base64 and in digits: their own forms are searched.

Octets that are decoded from any word look like a text of three letters now and then. So what is short is not
decoded: each term is encoded, at the three places that it may have in a group of Base64, whatever its case.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from orrery.scanner.base64_letters import ALPHABET, STANDARD, decoded, digits, letters
from orrery.scanner.detectors.hints import HEX
from orrery.scanner.detectors.patterns import is_address
from orrery.scanner.detectors.reading import Reading
from orrery.scanner.detectors.searching import Occurrence
from orrery.scanner.detectors.spelling import address_of, value_of
from orrery.scanner.detectors.words import begins, ends
from orrery.scanner.findings import Kind
from orrery.scanner.regex import PatternSet
from orrery.syntax.character_folding import plain

JUDGED = 8
"""Octets of ASCII side by side from which a decoder knows a text, and so finds a term that has them."""

LONGEST = 32
"""Octets of the longest term without JUDGED of them side by side: one in letters with marks."""

CLEAR = 6
"""Letters from which a term does not come about in random octets, whatever is beside it."""

NEAR = 12
"""Characters beside a form that decide whether the word ends there."""

_JOINS = ("", " ", "-", "_", ".")
_ASCII = re.compile(rb"[ -~]{%d}" % JUDGED)
_GAP = b"(?:[ :,-]{0,2}(?:0x)?)"
_LETTERS = ALPHABET + b"-_"
_WORD = ALPHABET[:-1]
_DIGITS_BEFORE = re.compile(rb"(?:[0-9A-Fa-f]{2})*\Z"), re.compile(rb"(?:[0-9A-Fa-f]{2}[ :,-]{1,2}(?:0x)?)*\Z")
_DIGITS_AFTER = re.compile(rb"(?:[0-9A-Fa-f]{2})*"), re.compile(rb"(?:[ :,-]{1,2}(?:0x)?[0-9A-Fa-f]{2})*")
"""Without and with something between them."""

_NO_DIGIT = re.compile(rb"0[xX]|[^0-9A-Fa-f]")
_CLEAN = re.compile(rb"[\t\n\r -~]?")

Octets = tuple[tuple[int, ...], ...]
"""What each octet of a term may be: a letter of ASCII is in either case, which is one bit."""


class Forms:
    """The forms of short terms: in Base64, searched for with the terms, and in digits where a text has such."""

    def __init__(self, terms: Iterable[tuple[Kind, str]]) -> None:
        found: list[tuple[Kind, str, Octets]] = [
            (kind, text, octets) for kind, text in dict.fromkeys(terms) for octets in _octets(text)
        ]
        self._base64 = [_Form(kind, text, octets, at) for kind, text, octets in found for at in range(3)]
        self._hex = [_Form(kind, text, octets, None) for kind, text, octets in found]

    @property
    def patterns(self) -> list[bytes]:
        """The patterns in Base64, whose numbers `places` asks for."""
        return [one.pattern for one in self._base64]

    def places(self, reading: Reading, numbers: Iterable[int]) -> Iterator[Occurrence]:
        """Yield where a form is whose pattern was found, and that encodes a word."""
        digits = self._digits(reading.octets) if self._hex and HEX in reading.hints else ()
        for form in (*(self._base64[one] for one in sorted(numbers)), *(self._hex[one] for one in sorted(digits))):
            yield from _places(form, reading)

    @cached_property
    def _digits(self) -> PatternSet:
        return PatternSet([one.pattern for one in self._hex])


class _Form(NamedTuple):
    """A term behind `at` octets of a group of Base64, or in hexadecimal digits."""

    kind: Kind
    text: str
    octets: Octets
    at: int | None

    @property
    def pattern(self) -> bytes:
        if self.at is None:
            return _GAP.join(b"(?:" + b"|".join(map(digits, one)) + b")" for one in self.octets)
        return letters(self.octets, self.at)


def _places(form: _Form, reading: Reading) -> Iterator[Occurrence]:
    for found in re.finditer(form.pattern, reading.octets):
        start, end = found.span()
        before, behind = (
            _in_hex(reading.octets, start, end)
            if form.at is None
            else _in_base64(reading.octets, start, end, form.at)
        )
        if reading.judges(start, end) and _is_word(before, behind, len(form.octets)):
            value = address_of(form.text) if is_address(form.kind) else value_of(form.text)
            yield Occurrence(form.kind, reading, start, end, value)


def _octets(text: str) -> Iterator[Octets]:
    """Yield the octets of each way to write a term in which a decoder knows no text."""
    words = text.split()
    if text.isascii() and len(text) - len(words) + 1 >= JUDGED:
        return
    written = {join.join(words) for join in _JOINS} if len(words) > 1 else {text}
    written |= {plain(one) for one in written}
    for one in sorted(written):
        for cased in {one} if one.isascii() else {one, one.lower(), one.upper(), one.title()}:
            octets = cased.encode(errors="replace")
            if len(octets) <= LONGEST and not _ASCII.search(octets):
                yield tuple(tuple({*bytes([octet]).lower(), *bytes([octet]).upper()}) for octet in octets)


def _in_base64(text: bytes, start: int, end: int, at: int) -> tuple[bytes, bytes]:
    """Return what a block encodes before a term, and from it on; nothing if it begins within its group."""
    group = start - 8 * at // 6
    before = text[max(0, group - NEAR) : max(0, group)]
    before = before[len(before.rstrip(_WORD)) :]
    behind = text[max(0, group) : end + NEAR].replace(rb"\/", b"/")
    behind = behind[: len(behind) - len(behind.lstrip(_LETTERS))]
    if group < 0 or group + len(behind) < end - text.count(rb"\/", start, end):
        return b"", b""
    octets = decoded(behind.translate(STANDARD))
    return decoded(before[len(before) % 4 :]) + octets[:at], octets[at:]


def _in_hex(text: bytes, start: int, end: int) -> tuple[bytes, bytes]:
    """Return what digits encode before a term, and from it on."""
    apart = not text[start:end].isalnum()
    before = _DIGITS_BEFORE[apart].search(text[max(0, start - 2 * NEAR) : start])
    behind = _DIGITS_AFTER[apart].match(text[end : end + 2 * NEAR])
    parts = (before[0] if before else b"", text[start:end] + (behind[0] if behind else b""))
    first, last = (bytes.fromhex(_NO_DIGIT.sub(b"", one).decode()) for one in parts)
    return first, last


def _is_word(before: bytes, behind: bytes, letters: int) -> bool:
    """Return whether a term of `letters` octets, with which `behind` begins, is a word."""
    word, after = behind[:letters], behind[letters:]
    if letters < CLEAR and not (_CLEAN.fullmatch(before[-1:]) and _CLEAN.fullmatch(after[:1])):
        return False
    texts = [one.decode(errors="replace") for one in (before, word, after)]
    return len(word) == letters and begins(texts[0], texts[1]) and ends(texts[1], texts[2])
