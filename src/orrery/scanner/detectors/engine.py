"""Where a text has terms, in any spelling: candidates are found fast, and then judged exactly."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from orrery.scanner.detectors.hints import ESCAPE
from orrery.scanner.detectors.own_forms import Forms
from orrery.scanner.detectors.patterns import Pattern, is_address, pattern, seen, spellings
from orrery.scanner.detectors.reading import Raw, Reading, line_of
from orrery.scanner.detectors.searching import Occurrence
from orrery.scanner.detectors.spelling import is_native
from orrery.scanner.detectors.words import (
    CERTAIN,
    begins,
    begins_address,
    begins_domain,
    ends,
    ends_domain,
    is_random,
)
from orrery.scanner.findings import BETWEEN, Kind
from orrery.scanner.regex import PatternSet, around, compiled
from orrery.syntax.character_folding import LOOKS, script

_NEIGHBOURS = 30

MANY = 500
"""Terms from which on patterns for all of them are not made at once."""

FIRST = 48 * 1024
"""Bytes that are searched before patterns for all terms are made."""
_BETWEEN = BETWEEN.decode()
_ESCAPES = (b"\\n", b"\\t", b"\\r")
_ESCAPE = compiled(ESCAPE)
_QUAD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][a-z]{3}")
"""At the beginning of a word, where camel case begins no other one."""

_ALIKE = bytes.maketrans(b"01i", b"oll")
"""Digits may stand for letters."""


class Candidates:
    """Finds fast whose patterns may be in a text."""

    def __init__(self, seen: Sequence[tuple[bytes, int]]) -> None:
        self._set = PatternSet([one for one, _ in seen])
        self._owners = [owner for _, owner in seen]

    def __call__(self, octets: bytes, *, escapes: bool) -> set[int]:
        """Return the owners of the patterns that may be there, also behind and between `escapes` like `\\n`."""
        found = self._set(octets) | self._set(_unescaped(octets)) if escapes else self._set(octets)
        return {self._owners[one] for one in found}


def _unescaped(octets: bytes) -> bytes:
    """Return what is near escapes of white space, with spaces for them."""
    near = b"\n".join(octets[start:end] for start, end in around(_ESCAPE, octets))
    for one in _ESCAPES:
        near = near.replace(one, b"  ")
    return near


def quad_of(form: str) -> bytes:
    """Return four letters that are side by side in every spelling of a term, or nothing."""
    found = _QUAD.search(form) if form.isascii() else None
    return found[0].lower().encode().translate(_ALIKE) if found else b""


def quads(octets: bytes) -> set[bytes]:
    """Return each four octets that are side by side."""
    low = octets.lower().translate(_ALIKE)
    return {low[at : at + 4] for at in range(len(low) - 3)}


class _Searched:
    """The terms that are searched in one kind of reading; an exact pattern is made when it is first needed.

    For the first texts, patterns are made of those terms alone of which four letters are there: a commit is small,
    and patterns of ten thousand terms would take longer than all else of its search.
    """

    def __init__(
        self, spellings: Sequence[tuple[Kind, str, str]], *, native: bool, forms: Sequence[bytes] = ()
    ) -> None:
        self._spellings = spellings
        self._forms = forms
        self._native = native
        self._begun = 0
        self._exact: dict[int, Pattern] = {}

    def __bool__(self) -> bool:
        return bool(self._spellings or self._forms)

    def __call__(self, octets: bytes, *, escapes: bool) -> tuple[list[Pattern], list[int]]:
        """Return the patterns that may be there, and the numbers of the forms."""
        found = self._numbers(octets, escapes=escapes)
        terms = [one for one in sorted(found) if one < len(self._spellings)]
        return [*map(self._pattern, terms)], [one - len(self._spellings) for one in found.difference(terms)]

    def _pattern(self, number: int) -> Pattern:
        if number not in self._exact:
            self._exact[number] = pattern(*self._spellings[number])
        return self._exact[number]

    def _numbers(self, octets: bytes, *, escapes: bool) -> set[int]:
        if self._native or len(self._spellings) < MANY or self._begun > FIRST:
            return self._all(octets, escapes=escapes)
        self._begun += len(octets)
        there = quads(octets)
        candidates = self._made(n for n, one in enumerate(self._quads) if not one or one in there)
        return candidates(octets, escapes=escapes) | self._forms_alone(octets, escapes=False)

    @cached_property
    def _all(self) -> Candidates:
        return self._made(range(len(self._spellings)), self._forms)

    @cached_property
    def _forms_alone(self) -> Candidates:
        return self._made((), self._forms)

    @cached_property
    def _quads(self) -> list[bytes]:
        return [quad_of(form) for _, _, form in self._spellings]

    def _made(self, numbers: Iterable[int], forms: Sequence[bytes] = ()) -> Candidates:
        """Return what finds which of some terms and of the forms may be there."""
        made = [(one, number) for number in numbers for one in self._seen(number)]
        return Candidates([*made, *((one, len(self._spellings) + at) for at, one in enumerate(forms))])

    def _seen(self, number: int) -> list[bytes]:
        kind, _, form = self._spellings[number]
        return seen(kind, form, native=self._native)


class TermSearch:
    """Searches for terms of kinds: `domain` and `address`, also as the end of a kind's name, are found as such."""

    def __init__(self, terms: Sequence[tuple[Kind, str]]) -> None:
        made: list[tuple[Kind, str, str]] = [
            (kind, text, form) for kind, text in dict.fromkeys(terms) for form in spellings(kind, text)
        ]
        self._forms = Forms(terms)
        latin = [one for one in made if not is_native(one[2])]
        self._latin = _Searched(latin, native=False, forms=self._forms.patterns)
        self._native = _Searched([one for one in made if is_native(one[2])], native=True)

    def __call__(self, readings: Sequence[Reading]) -> Iterator[Occurrence]:
        """Yield what a block has, and of a domain in an address only the address, however it is read."""
        alone: list[Occurrence] = []
        hidden: set[tuple[str, int]] = set()
        for reading in readings:
            patterns, forms = self._latin(reading.octets, escapes=ESCAPE in reading.hints)
            yield from self._forms.places(reading, forms)
            whole, parts = _apart(list(self._places(reading, patterns)))
            alone += whole
            if parts and reading.is_whole:
                hidden |= {_key(one) for one in parts} - {_key(one) for one in whole}
        yield from (one for one in alone if not hidden or _key(one) not in hidden)

    def _places(self, reading: Reading, latin: Iterable[Pattern]) -> Iterator[Occurrence]:
        for one in latin:
            yield from _exact(one, reading, reading.low)
        if self._native and not isinstance(reading, Raw):
            found, _ = self._native(reading.native.encode(errors="replace"), escapes="\\" in reading.base)
            for one in found:
                yield from _exact(one, reading, reading.native)


def _exact(term: Pattern, reading: Reading, low: str) -> Iterator[Occurrence]:
    found = term.exact.search(low)
    while found:
        start, end = found.span()
        counts = reading.judges(start, end) and _counts(term, reading, start, end)
        if counts:
            yield Occurrence(term.kind, reading, start, end, term.value)
        found = term.exact.search(low, end if counts else start + 1)


def _apart(places: list[Occurrence]) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return the places apart from domains and addresses that are a part of a longer one."""
    parts: list[Occurrence] = []
    longest: Occurrence | None = None
    for one in sorted((one for one in places if is_address(one.kind)), key=lambda one: (one.start, -one.end)):
        if longest and one.end <= longest.end and (one.start, one.end) != (longest.start, longest.end):
            parts.append(one)
        elif not longest or one.end > longest.end:
            longest = one
    return [one for one in places if one not in parts] if parts else places, parts


def _key(place: Occurrence) -> tuple[str, int]:
    reading = place.reading
    return place.value, line_of(reading.block, reading.at(place.start) - reading.start) + reading.start


def _counts(term: Pattern, reading: Reading, start: int, end: int) -> bool:
    word = reading.base[start:end]
    before, after = reading.before(start), reading.after(end)
    if term.is_address:
        begun = begins_address(before) if "@" in term.value else begins_domain(before)
        return begun and ends_domain(after)
    if term.letters < CERTAIN and is_random(before, word, after):
        return False
    if word[0].isdigit() and not term.value[0].isdigit():
        word = "o" + word[1:]
    if not begins(before, word):
        return False
    plural = term.plural and after[:1] in {"s", "S"} and ends(word[-1] + after[0], after[1:])
    return (plural or ends(word, after)) and (term.native or not _is_of_other_script(reading, start, end))


def _is_of_other_script(reading: Reading, start: int, end: int) -> bool:
    """Return whether a word that only looks Latin is among words of its script, and so is one of them."""
    word = reading.base[start:end]
    if isinstance(reading, Raw) or any(one.isascii() and one.isalpha() for one in word):
        return False
    scripts = {script(one) for one in word if one.isalpha()}
    before = reading.base[max(0, start - _NEIGHBOURS) : start].rpartition(_BETWEEN)[2]
    around = before + reading.base[end : end + _NEIGHBOURS].partition(_BETWEEN)[0]
    return any(ord(one) not in LOOKS and script(one) in scripts for one in around if not one.isascii())
