"""Which of many patterns may be in a text: RE2's sets, asked for one answer at once."""

from collections.abc import Sequence
from typing import cast

import re2  # pyright: ignore[reportMissingTypeStubs]  google-re2 has none

from orrery.scanner.detectors.near import around, compiled

MEMORY = 128 * 1024 * 1024
"""Bytes that a search may use at most; it uses what the text needs."""

_SENTINEL = b"\n\x00\x01\x02\n"
"""Put behind each text, and searched for: an answer without it means that the memory did not suffice."""

_LEAST = 4096
_SHARED = 1024
_ESCAPES = (b"\\n", b"\\t", b"\\r")
_ESCAPE = compiled(rb"\\[nrt] *[A-Za-z]")


class Candidates:
    """Says which patterns may be in a text, fast."""

    def __init__(self, seen: Sequence[bytes], memory: int = MEMORY) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = memory
        options.log_errors = False
        self._count = len(seen)
        self._set = re2.Set.SearchSet(options)
        try:
            for one in seen:
                _ = self._set.Add(one)
            _ = self._set.Add(re2.escape(_SENTINEL))
            self._set.Compile()
        except re2.error:
            raise ValueError("The terms do not fit into the memory of a search.") from None  # a cause names them

    def __call__(self, octets: bytes) -> set[int]:
        """Return the numbers of the patterns that may be there, also behind and between escapes like `\\n`."""
        found = self._in(octets)
        if b"\\" in octets and (escaped := _unescaped(octets)):
            found |= self._in(escaped)
        return found

    def _in(self, octets: bytes) -> set[int]:
        found = cast("list[int] | None", self._set.Match(b"\n" + octets + _SENTINEL))
        if found is not None:
            numbers = set(found)
            numbers.discard(self._count)
            return numbers
        if len(octets) < _LEAST:
            return set(range(self._count))
        half = len(octets) // 2
        return self._in(octets[: half + _SHARED]) | self._in(octets[half - _SHARED :])


def _unescaped(octets: bytes) -> bytes:
    """Return what is near escapes of white space, with spaces for them."""
    near = b"\n".join(octets[start:end] for start, end in around(_ESCAPE, octets))
    for one in _ESCAPES if near else ():
        near = near.replace(one, b"  ")
    return near
