"""Which of many terms may be in a text."""

from collections.abc import Sequence

from orrery.scanner.detectors.hints import ESCAPE
from orrery.scanner.regex import PatternSet, around, compiled

_ESCAPES = (b"\\n", b"\\t", b"\\r")
_ESCAPE = compiled(ESCAPE)


class Candidates:
    """Says whose patterns may be in a text, fast."""

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
