"""The patterns of a term: one that finds fast whether it may be there, and one that finds exactly where."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from orrery.scanner.detectors.spelling import AND, Word, address_of, is_native, network_form, value_of, words_of
from orrery.scanner.detectors.words import CERTAIN
from orrery.scanner.findings import Kind
from orrery.syntax.character_folding import UNSPACED

RUN_TOGETHER = 6
"""Letters of a term of several words from which they may be written without anything between them."""

PLURAL = 5
"""Letters of a last word from which an `s` may follow it: `Falcons`, `Müllers`; but not `Marks`."""

DIGITS_FOR_LETTERS = 5
"""Letters of a word from which a 0 may stand for an o, and a 1 for an l or an i."""

SEEN = 8
"""Letters by which a term is found; the rest is judged where it was found."""

_NEW_LINE = r"(?:(?<=\n)[\s>#*/|;\-]{0,60})?"
_MARKS = r"[*_~`=^\\]{0,6}"
"""Emphasis, and the escape or the hard break of a line, beside what joins words."""

_JOINS = r"(?:[\s\-_./+'|,]|\\[nrt])"
_JOIN = _MARKS + _JOINS + "{0,4}" + _MARKS + _NEW_LINE
_SOME = _MARKS + _JOINS + "{1,4}" + _MARKS + _NEW_LINE
_AND = r"(?:(?:&|and|und|et|\+|n)" + _JOIN + ")?"
_TAG = r"(?:\+[\w.-]{1,64})?"
_DOT = r"\\{0,4}\."
_DIGITS = str.maketrans({"o": "[o0]", "l": "[l1]", "i": "[i1]"})

_SEEN_GAP = r"[\W_]*"
_SEEN_AND = r"(?:(?:and|und|et|n)[\W_]*)?"
_SEEN_TAG = r"(?:\+[\w.-]*@)?"
_SEEN_END = "[^a-rt-z]"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One spelling of a term, as an expression for text without case.

    `native`: the term is not Latin, and is searched in the reading for such; `letters` is their number.
    """

    kind: Kind
    value: str = field(repr=False)
    exact: re.Pattern[str] = field(repr=False)
    native: bool
    plural: bool
    letters: int

    @property
    def is_address(self) -> bool:
        """Whether it is a domain or an address, which has other boundaries than a name."""
        return is_address(self.kind)


def is_address(kind: str) -> bool:
    return kind.endswith(("domain", "address"))


def spellings(kind: Kind, text: str) -> list[str]:
    """Return the spellings of a term that have separate patterns: for a domain also its form in ASCII."""
    other = network_form(text) if is_address(kind) and not text.isascii() else ""
    return [text, other] if other else [text]


def seen(kind: str, text: str, *, native: bool) -> list[bytes]:
    """Return the patterns, in RE2's language, of the first letters of a term in octets with their case.

    They are found also where the term does not count. All begin alike, so that RE2 makes one tree of them: as
    alternatives that begin differently they would be slower by a factor of 80 until each was found once.
    """
    address = is_address(kind)
    words = words_of(text, camel=not address)
    tagged = len(words_of(text.rpartition("@")[0], camel=False)) if address and "@" in text else 0
    made = ""
    count = 0
    for at, word in enumerate(words):
        if word == AND:
            made += _SEEN_AND
            continue
        part = "".join(word[: SEEN - count])
        made += (_SEEN_TAG if tagged and at == tagged else "") + (part if native else _digits(part, len(word)))
        count += len(word)
        if count > SEEN:
            break
        made += _SEEN_GAP if at < len(words) - 1 else ""
    if native:
        return [made.encode()]
    end = _SEEN_END if count <= SEEN else ""
    first = words[0][0][0] if words and words[0] != AND else ""
    if count >= CERTAIN or not first.isalpha():
        return [f"(?i:{made}){end}".encode()]
    rest = made[4:] if made[0] == "[" else made[1:]
    return [f"[^A-Za-z](?i:{made}){end}".encode(), f"{first.upper()}(?i:{rest}){end}".encode()]


def pattern(kind: Kind, text: str, form: str) -> Pattern:
    """Return the exact pattern of one spelling of a term."""
    native = is_native(form)
    if is_address(kind):
        letters = sum(map(len, words_of(form, camel=False)))
        return Pattern(kind, address_of(text), _compiled(_address(form)), native, plural=False, letters=letters)
    words = words_of(form)
    letters = sum(len(word) for word in words if word != AND)
    last = words[-1] if words else ""
    plural = len(last) >= PLURAL and all(one[0].isalpha() and not UNSPACED.match(one) for one in last)
    tight = letters >= RUN_TOGETHER or bool(UNSPACED.search(form))
    exact = _compiled(_name(words, tight=tight, native=native))
    return Pattern(kind, value_of(text), exact, native, plural, letters)


def _compiled(exact: str) -> re.Pattern[str]:
    return re.compile(exact)


def _name(words: Sequence[Word], *, tight: bool, native: bool) -> str:
    exact = ""
    for at, word in enumerate(words):
        if word == AND:
            exact += _JOIN + _AND if tight else "[ ]?&[ ]?"
            continue
        if at and words[at - 1] != AND:
            exact += _JOIN if tight else _SOME
        exact += "".join(word) if native else _digits("".join(word), len(word))
    return exact


def _address(form: str) -> str:
    local, at, domain = form.strip(" .").rpartition("@")
    return (_dotted(local) + _TAG + "[@_]" if at else "") + _dotted(domain)


def _dotted(text: str) -> str:
    return _DOT.join("".join(map(_part, re.split(r"([^\W_]+)", label))) for label in text.split("."))


def _part(text: str) -> str:
    """Return the pattern of a word, or of what is between words."""
    words = words_of(text, camel=False)
    return "".join("".join(word) for word in words) if words and words != [AND] else re.escape(text)


def _digits(word: str, letters: int) -> str:
    return word.translate(_DIGITS) if letters >= DIGITS_FOR_LETTERS else word
