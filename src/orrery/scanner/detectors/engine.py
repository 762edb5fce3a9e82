"""Where terms stand in a text, in whatever spelling: candidates are found fast, and then judged exactly."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from orrery.scanner.detectors.candidates import Candidates
from orrery.scanner.detectors.letters import LOOKS, is_letter
from orrery.scanner.detectors.patterns import Pattern, patterns
from orrery.scanner.detectors.reading import Raw, Reader, Reading, line_of
from orrery.scanner.detectors.words import (
    CERTAIN,
    begins,
    begins_address,
    begins_domain,
    ends,
    ends_domain,
    is_random,
)
from orrery.scanner.findings import Kind, Match

_NEIGHBOURS = 30


@dataclass(frozen=True, slots=True)
class _Place:
    pattern: Pattern
    start: int
    end: int


class Engine:
    """Searches for terms of kinds: `domain` and `address`, also as the end of a kind's name, are found as such."""

    def __init__(self, terms: Sequence[tuple[str, str]], reader: Reader) -> None:
        made = {(one.kind, one.value, one.exact): one for kind, text in terms for one in patterns(kind, text)}
        self._latin = [one for one in made.values() if not one.native]
        self._native = [one for one in made.values() if one.native]
        self._find_latin = Candidates([one.seen for one in self._latin])
        self._find_native = Candidates([one.seen for one in self._native])
        self._reader = reader
        self._compiled = cache(re.compile)

    def matches(self, text: bytes) -> Iterator[Match]:
        """Yield each term once for each line that has it."""
        found: set[tuple[str, str, int]] = set()
        for block in self._reader(text):
            for reading, place in self._in_block(block):
                start = reading.at(place.start)
                key = (place.pattern.kind, place.pattern.value, line_of(text, start))
                if key not in found:
                    found.add(key)
                    end = max(start + 1, reading.at(place.end - 1) + 1)
                    yield Match(cast("Kind", place.pattern.kind), start, end, place.pattern.value)

    def _in_block(self, readings: Sequence[Reading]) -> Iterator[tuple[Reading, _Place]]:
        """Yield what stands in a block, and of a domain in an address only the address, however it is read."""
        alone: list[tuple[Reading, _Place]] = []
        parts: dict[Reading, set[tuple[str, int]]] = {}
        whole: dict[Reading, set[tuple[str, int]]] = {}
        for reading in readings:
            places = list(self._places(reading))
            for one in places:
                inside = any(_contains(other, one) for other in places)
                (parts if inside else whole).setdefault(reading, set()).add(_key(reading, one))
                if not inside:
                    alone.append((reading, one))
        hidden = {key for reading, keys in parts.items() for key in keys - whole.get(reading, set())}
        for reading, one in alone:
            if not hidden or _key(reading, one) not in hidden:
                yield reading, one

    def _places(self, reading: Reading) -> Iterator[_Place]:
        for number in sorted(self._find_latin(reading.octets)):
            yield from self._exact(self._latin[number], reading, reading.low)
        if self._native and not isinstance(reading, Raw):
            for number in sorted(self._find_native(reading.native.encode(errors="replace"))):
                yield from self._exact(self._native[number], reading, reading.native)

    def _exact(self, pattern: Pattern, reading: Reading, low: str) -> Iterator[_Place]:
        search = self._compiled(pattern.exact).search
        found = search(low)
        while found:
            start, end = found.span()
            counts = reading.judges(start, end) and _counts(pattern, reading, start, end)
            if counts:
                yield _Place(pattern, start, end)
            found = search(low, end if counts else start + 1)


def _contains(longer: _Place, shorter: _Place) -> bool:
    return (
        shorter.pattern.is_address
        and longer.pattern.is_address
        and longer.start <= shorter.start
        and shorter.end <= longer.end
        and longer.end - longer.start > shorter.end - shorter.start
    )


def _key(reading: Reading, place: _Place) -> tuple[str, int]:
    return place.pattern.value, line_of(reading.block, reading.at(place.start) - reading.start)


def _counts(pattern: Pattern, reading: Reading, start: int, end: int) -> bool:
    word = reading.base[start:end]
    before, after = reading.before(start), reading.after(end)
    if pattern.is_address:
        begun = begins_address(before) if "@" in pattern.value else begins_domain(before)
        return begun and ends_domain(after)
    if pattern.letters < CERTAIN and is_random(before, word, after):
        return False
    if word[0].isdigit() and not pattern.value[0].isdigit():
        word = "o" + word[1:]
    if not begins(before, word):
        return False
    plural = pattern.plural and after[:1] in {"s", "S"} and ends(word[-1] + after[0], after[1:])
    return (plural or ends(word, after)) and (pattern.native or not _is_of_other_script(reading, start, end))


def _is_of_other_script(reading: Reading, start: int, end: int) -> bool:
    """Return whether a word that only looks Latin stands among words of its own script, and so is one of them."""
    if isinstance(reading, Raw) or any(one.isascii() and one.isalpha() for one in reading.base[start:end]):
        return False
    around = reading.base[max(0, start - _NEIGHBOURS) : start] + reading.base[end : end + _NEIGHBOURS]
    return any(not one.isascii() and is_letter(one) and ord(one) not in LOOKS for one in around)
