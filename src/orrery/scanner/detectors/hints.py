"""What tells fast that a text needs a closer look, and where."""

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs]  google-re2 has none

MARGIN = 256
"""Bytes beside a place that are taken with it: more than a term has."""

MEMORY = 128 * 1024 * 1024
"""Bytes that a search for many patterns may use at most; it uses what the text needs."""

_SENTINEL = b"\n\x00\x01\x02\n"
"""Put behind each text, and searched for: an answer without it means that the memory did not suffice."""

_LEAST = 4096
_SHARED = 1024

DEFANGED = r"[\[({<][ ]?(?:\.|(?i:dot|at)|@)[ ]?[\])}>]|(?i: dot |,[ ]?dc=| at [\w-]{1,63}(?:\.| dot )\w)"
WRITTEN = (
    r"[\x80-\xff]|&#|&[A-Za-z][A-Za-z0-9]{1,31};|%u?[0-9A-Fa-f]{2}|\\(?:[uU][0-9A-Fa-f{]|x[0-9A-Fa-f]{2}|[0-3][0-7]{2})|"
    + DEFANGED
)
MAIL = r"=\r?\n|=[2-7A-F89][0-9A-F]"
WIDE = r"[\x20-\x7e]\x00[\x20-\x7e]\x00"
ESCAPE = r"\\[nrt] *[A-Za-z]"
TOKEN = r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"
LABEL = r"(?i:track)[\s\"'`\\:<&%=;\x1b\x80-\xff]"
GUID_DIGITS = "[0-9A-Fa-f]{8}(?:(?: ?- ?|_)?[0-9A-Fa-f]{4}){3}(?: ?- ?|_)?[0-9A-Fa-f]{12}"
GUID_PARTS = (
    r"0[xX][0-9A-Fa-f]{1,8}(?:[\s,{}]{1,6}0[xX][0-9A-Fa-f]{1,4}){2}(?:[\s,{}]{1,6}0[xX][0-9A-Fa-f]{1,2}){8}"
)
GUID = f"{GUID_DIGITS}|{GUID_PARTS}"
CANARY = r"[A-Za-z](?:[\s_.-]{0,3}[0-9][\s_.-]{0,3}[A-Za-z]){7}[\s_.-]{0,3}[0-9]"
"""Sixteen letters and digits by turns."""


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = MEMORY
    options.log_errors = False
    return options


class PatternSet:
    """Many patterns of RE2, for octets, that are searched for at once."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self._count = len(patterns)
        self._set = re2.Set.SearchSet(_options())
        try:
            for one in (*patterns, re2.escape(_SENTINEL)):
                _ = self._set.Add(one)
            self._set.Compile()
        except re2.error:
            raise ValueError("The patterns do not fit into the memory of a search.") from None  # a cause names them

    def __call__(self, octets: bytes) -> set[int]:
        """Return the numbers of the patterns that are there, or when the memory does not suffice, that may be."""
        found = cast("list[int] | None", self._set.Match(b"\n" + octets + _SENTINEL))
        if found is not None:
            numbers = set(found)
            numbers.discard(self._count)
            return numbers
        if len(octets) < _LEAST:
            return set(range(self._count))
        half = len(octets) // 2
        return self(octets[: half + _SHARED]) | self(octets[half - _SHARED :])


_HINTS = {one: at for at, one in enumerate((WRITTEN, DEFANGED, MAIL, WIDE, ESCAPE, TOKEN, LABEL, GUID, CANARY))}
_SET = PatternSet([one.encode() for one in _HINTS])


class Hints:
    """Which of the expressions above are in a text."""

    __slots__ = ("_found",)

    def __init__(self, octets: bytes) -> None:
        self._found = _SET(octets)

    def __contains__(self, expression: str) -> bool:
        return _HINTS[expression] in self._found


class Found(Protocol):
    """A place that was found."""

    def start(self) -> int: ...
    def end(self) -> int: ...


class Fast(Protocol):
    """An expression of RE2, for octets."""

    def search(self, text: bytes, pos: int = 0) -> Found | None:
        """Return the first place from a position on."""
        ...


def compiled(expression: str) -> Fast:
    return cast("Fast", re2.compile(expression.encode(), _options()))


def around(expression: Fast, text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are near what an expression finds; those that meet are one."""
    found = expression.search(text)
    start = end = 0
    while found:
        first = max(0, found.start() - MARGIN)
        if end and first > end:
            yield start, end
            start = first
        elif not end:
            start = first
        end = min(len(text), found.end() + MARGIN)
        if end == len(text):
            break
        found = expression.search(text, end - MARGIN // 2)
    if end:
        yield start, end
