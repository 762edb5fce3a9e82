"""RE2, as the detectors use it: for octets, one expression or many at once."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs]  google-re2 has none

MARGIN = 256
"""Bytes beside a place that are taken with it: more than a term has."""

MEMORY = 128 * 1024 * 1024
"""Bytes that a search for many patterns may use at most; it uses what the text needs."""

_SENTINEL = b"\n\x00\x01\x02\n"
"""Put behind each text, and searched for: an answer without it means that the memory did not suffice."""

_SENTINEL_PATTERN = rb"\n\x00\x01\x02\n"
_LEAST = 4096
_SHARED = 1024


class Found(Protocol):
    """A place that was found."""

    def start(self) -> int: ...
    def end(self) -> int: ...


class Fast(Protocol):
    """One expression."""

    def search(self, text: bytes, pos: int = 0) -> Found | None:
        """Return the first place from a position on."""
        ...


class _Set(Protocol):
    def Add(self, pattern: bytes) -> int: ...  # noqa: N802  its name in RE2
    def Compile(self) -> None: ...  # noqa: N802  its name in RE2
    def Match(self, text: bytes) -> list[int] | None: ...  # noqa: N802  its name in RE2


class _Sets(Protocol):
    def SearchSet(self, options: object) -> _Set: ...  # noqa: N802  its name in RE2


class _Encodings(Protocol):
    LATIN1: object


class _Options(Protocol):
    Encoding: _Encodings
    encoding: object
    max_mem: int
    log_errors: bool

    def __call__(self) -> "_Options": ...


class _Library(Protocol):
    Options: _Options
    Set: _Sets
    error: type[Exception]

    def compile(self, pattern: bytes, options: _Options) -> Fast: ...


_RE2 = cast("_Library", cast("object", re2))


def _options(memory: int = MEMORY) -> _Options:
    options = _RE2.Options()
    options.encoding = _RE2.Options.Encoding.LATIN1
    options.max_mem = memory
    options.log_errors = False
    return options


def compiled(expression: str) -> Fast:
    return _RE2.compile(expression.encode(), _options())


class PatternSet:
    """Many expressions that are searched for at once."""

    def __init__(self, patterns: Sequence[bytes], memory: int = MEMORY) -> None:
        self._count = len(patterns)
        self._set = _RE2.Set.SearchSet(_options(memory))
        try:
            for one in (*patterns, _SENTINEL_PATTERN):
                _ = self._set.Add(one)
            self._set.Compile()
        except _RE2.error:
            # Its cause would name them.
            raise ValueError("The patterns do not fit into the memory of a search.") from None

    def __call__(self, octets: bytes) -> set[int]:
        """Return the numbers of those that are there, or when the memory does not suffice, that may be."""
        return numbers(self._set.Match, octets, self._count)


def numbers(match: Callable[[bytes], list[int] | None], octets: bytes, count: int) -> set[int]:
    """Return what a search for `count` expressions and the sentinel finds: it finds nothing without memory."""
    found = match(b"\n" + octets + _SENTINEL)
    if found is not None:
        return {*found} - {count}
    if len(octets) < _LEAST:
        return set(range(count))
    half = len(octets) // 2
    return numbers(match, octets[: half + _SHARED], count) | numbers(match, octets[half - _SHARED :], count)


def around(expression: Fast, text: bytes, margin: int = MARGIN) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are near what an expression finds; those that meet are one."""
    found = expression.search(text)
    start = end = 0
    while found:
        first = max(0, found.start() - margin)
        if end and first > end:
            yield start, end
            start = first
        elif not end:
            start = first
        end = min(len(text), found.end() + margin)
        if end == len(text):
            break
        found = expression.search(text, end - margin // 2)
    if end:
        yield start, end
