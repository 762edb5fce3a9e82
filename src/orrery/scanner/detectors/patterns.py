"""The patterns of a term: one that tells fast whether it may be there, and one that says exactly where."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from orrery.scanner.detectors.letters import UNSPACED
from orrery.scanner.detectors.spelling import (
    AND,
    Letter,
    Word,
    address_of,
    is_native,
    network_form,
    value_of,
    words_of,
)

RUN_TOGETHER = 6
"""Letters of a term of several words from which they may stand without anything between them."""

PLURAL = 5
"""Letters of a last word from which an `s` may follow it: `Falcons`, `Müllers`; but not `Marks`."""

DIGITS_FOR_LETTERS = 5
"""Letters of a word from which a 0 may stand for an o, and a 1 for an l or an i."""

SEEN = 12
"""Letters by which a term is found; the rest is judged where it was found."""

_NEW_LINE = r"(?:(?<=\n)[\s>#*/|;\-]{0,60})?"
_JOIN = r"(?:[\s\-_./+'|,]|\\[nrt]){0,4}" + _NEW_LINE
_SOME = r"(?:[\s\-_./+'|,]|\\[nrt]){1,4}" + _NEW_LINE
_AND = r"(?:(?:&|and|und|et|\+|n)" + _JOIN + ")?"
_TAG = r"(?:\+[\w.-]{1,64})?"
_DOT = r"\\{0,4}\."
_DIGITS = {"o": "[o0]", "l": "[l1]", "i": "[i1]"}

_SEEN_GAP = r"[\W_]*"
_SEEN_AND = r"(?:(?:and|und|et|n)[\W_]*)?"
_SEEN_TAG = r"(?:\+[\w.-]*@)?"
_SEEN_END = "[^a-rt-z]"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One spelling of a term. `seen` is in RE2's language, for octets with their case; `exact` is without case.

    `native` says that the term is not Latin, and is searched in the reading for such; `letters` is their number.
    """

    kind: str
    value: str = field(repr=False)
    seen: bytes = field(repr=False)
    exact: str = field(repr=False)
    native: bool
    plural: bool
    letters: int

    @property
    def is_address(self) -> bool:
        """Whether it is a domain or an address, which has other boundaries than a name."""
        return self.kind.endswith(("domain", "address"))


def patterns(kind: str, text: str) -> list[Pattern]:
    """Return the patterns of a term: one, and a second for a domain that has a form in ASCII."""
    if not kind.endswith(("domain", "address")):
        return [_name(kind, text)]
    value, other = address_of(text), network_form(text)
    return [_address(kind, value, form) for form in (text, other) if form]


def _name(kind: str, text: str) -> Pattern:
    native = is_native(text)
    words = words_of(text)
    letters = sum(len(word) for word in words if word != AND)
    tight = letters >= RUN_TOGETHER or bool(UNSPACED.search(text))
    exact = ""
    for at, word in enumerate(words):
        if word == AND:
            exact += _JOIN + _AND if tight else "[ ]?&[ ]?"
            continue
        if at and words[at - 1] != AND:
            exact += _JOIN if tight else _SOME
        exact += "".join(_exact(one, digits=not native and len(word) >= DIGITS_FOR_LETTERS) for one in word)
    last = words[-1] if words else ()
    plural = len(last) >= PLURAL and all(one.one.isalpha() and not UNSPACED.match(one.one) for one in last)
    return Pattern(kind, value_of(text), _seen(words, native=native), exact, native, plural, letters)


def _address(kind: str, value: str, form: str) -> Pattern:
    native = is_native(form)
    local, at, domain = form.rpartition("@")
    exact = _dotted(domain)
    tagged = 0
    if at:
        exact = _dotted(local) + _TAG + "[@_]" + exact
        tagged = len(words_of(local, camel=False))
    words = words_of(form, camel=False)
    seen = _seen(words, native=native, tagged=tagged)
    return Pattern(kind, value, seen, exact, native, plural=False, letters=sum(map(len, words)))


def _dotted(text: str) -> str:
    return _DOT.join("".join(map(_exact, _all_letters(part))) for part in text.strip(" .").split("."))


def _all_letters(text: str) -> list[Letter]:
    """Return the letters of a text and what stands between its words."""
    found: list[Letter] = []
    for part in re.split(r"([^\W_]+)", text):
        words = words_of(part, camel=False)
        found += [one for word in words for one in word] or [Letter(one, e=False) for one in part]
    return found


def _exact(letter: Letter, *, digits: bool = False) -> str:
    one = letter.one
    made = _DIGITS[one] if digits and one in _DIGITS else re.escape(one)
    return made + "e?" if letter.e else made


def _seen(words: Sequence[Word], *, native: bool, tagged: int = 0) -> bytes:
    made = ""
    count = 0
    for at, word in enumerate(words):
        if word == AND:
            made += _SEEN_AND
            continue
        made += _SEEN_TAG if tagged and at == tagged else ""
        digits = not native and len(word) >= DIGITS_FOR_LETTERS
        for letter in word[: SEEN - count]:
            made += _exact(letter, digits=digits) if count or native else _first(letter, digits=digits)
            count += 1
        if count >= SEEN and not (at == len(words) - 1 and len(word) == count):
            return (made if native else made + ")").encode()
        made += _SEEN_GAP if at < len(words) - 1 else ""
    return (made if native else f"{made}){_SEEN_END}").encode()


def _first(letter: Letter, *, digits: bool) -> str:
    """Return the first letter of a term: a small one begins no word after another letter."""
    one = letter.one
    small = _exact(letter, digits=digits)
    if not one.isalpha():
        return small + "(?i:"
    return f"(?:[^A-Za-z]{small}|{one.upper()}" + ("e?" if letter.e else "") + ")(?i:"
