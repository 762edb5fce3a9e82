"""Hexadecimal digits in texts: plain and wrapped, with blanks or colons or `0x`, and as programs dump a file."""

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final

from orrery.scanner.base64_letters import digits
from orrery.scanner.regex import compiled, outermost, places
from orrery.scanner.unpack.base64_blocks import WRAP
from orrery.scanner.unpack.view import changed, until

SHORTEST: Final = 12
"""Digits of the shortest block that is judged; in shorter ones the terms' own forms are searched."""

SHORTEST_DEFLATED: Final = 10
"""Digits of the shortest stream: three letters."""

LONG_DEFLATED: Final = 72
"""Digits from which on a stream may have its own codes; with fixed ones it ends in seven bits that are zero."""

_X: Final = rb"[0-9A-Fa-f]"
_XX: Final = _X + _X


def _octets(which: Iterable[int]) -> bytes:
    """Return a pattern for the digits of octets."""
    return b"(?:" + b"|".join(map(digits, which)) + b")"


_TELLING: Final = (
    (b"(?:[2-7]%b|0[9AaDd]|[CcDd]%b[89ABab]%b|[Ee]%b[89ABab]%b[89ABab]%b){6}").replace(b"%b", _X),
    b"(?:[2-7]%b00){4}|(?:00[2-7]%b){4}|(?:[2-7]%b000000){3}|(?:000000[2-7]%b){3}" % (_X, _X, _X, _X),
    _octets([0x1F]) + b"8[Bb]08|78(?:01|5[Ee]|9[Cc]|[Dd][Aa])",
    b"|".join(
        _octets([first]) + rest for first, rest in ((0x50, b"4[Bb]0304"), (0x89, b"504[Ee]47"), (0x25, b"504446"))
    ),
    b"[Ff][Dd]377[Aa]58|425[Aa]68",
)
"""UTF-8; UTF-16 and UTF-32; and how gzip, zlib, zip, PNG, PDF, xz and bzip2 begin."""

_FIRST: Final = {7, *range(0x50 >> 3, (0xAE >> 3) + 1), 28, 29, 30}
"""Five bits of the fixed code of a line end, of ASCII, and of the first octets of UTF-8: RFC 1951, 3.2.6."""

_FIXED: Final = _octets(
    one for one in range(256) if one & 7 in {2, 3} and int(f"{one >> 3:05b}"[::-1], 2) in _FIRST
)
"""The first octet of a raw deflate stream of a text in fixed codes."""

_OWN: Final = _X + b"[45CDcd]"
"""The first octet of a stream that begins with a block of individual codes: RFC 1951, 3.2.3."""

_WRAPPED: Final = WRAP + b"?"
_SEPARATOR: Final = rb"(?:[ \t]?[ \t,:;-][ \t]?(?:[ \t]*\r?\n[ \t]*)?(?:0[xX])?|[ \t]*\r?\n[ \t]*(?:0[xX])?)"
_BEFORE: Final = b"(?:^|[^0-9A-Za-z])"
_OFFSET: Final = rb"[ \t]*[0-9A-Fa-f]{4,16}:?[ \t]{1,4}"
_SOME: Final = b"(?:" + _XX + b"){1,4}(?:[ \t]{1,2}(?:" + _XX + b"){1,4})*"
_CELLS: Final = b"(?:" + _XX + b"){1,4}(?:[ \t]{1,2}(?:" + _XX + b"){1,4}){2,}"
_SHOWN: Final = rb"(?:[ \t|>][^\r\n]*)?\r?(?:\n|$)"
_ONE_BY_ONE: Final = _XX + b"(?:" + _SEPARATOR + _XX + rb"){4}|(?:^|\n)" + _OFFSET + _CELLS
_OCTETS: Final = compiled(_ONE_BY_ONE)
"""What has none of these has no octets one by one: one search is faster than those for all their forms."""

HINT: Final = _ONE_BY_ONE + b"|" + _X + b"(?:" + _WRAPPED + _X + b"){%d}" % (SHORTEST_DEFLATED - 1)
"""The shortest digits that count, in any form."""

_DIGITS: Final = compiled(_X + b"*(?:" + b"|".join(_TELLING) + b")(?:" + _WRAPPED + _X + b")*")
"""Digits with a text or the head of a file in them."""

_APART: Final = (
    compiled(
        b"(?:%(xx)b%(sep)b)*[2-7]%(x)b(?:%(sep)b[2-7]%(x)b){5}(?:%(sep)b%(xx)b)*"
        % {b"x": _X, b"xx": _XX, b"sep": _SEPARATOR}
    ),
    compiled(rb"(?:^|\n)(?:" + _OFFSET + _CELLS + _SHOWN + b")+(?:" + _OFFSET + _SOME + _SHOWN + b")?"),
    compiled(_BEFORE + b"(?:0[xX])?(?:" + _FIXED + b"|78|1[Ff]|" + _OWN + b")(?:" + _SEPARATOR + _XX + b"){4,}"),
)
"""Octets one by one that are a text, the lines of a dump, and octets that may be packed."""

_DEFLATED: Final = compiled(
    _BEFORE + b"(?:" + _FIXED + _X + b"{8}|" + _OWN + _X + b"{16})(?:" + _WRAPPED + _X + b")*"
)
_LINE: Final = re.compile(_OFFSET + b"(" + _SOME + b")")
_OTHER: Final = re.compile(rb"0[xX]|\\[rn]|[^0-9A-Fa-f]+")
_ENDS: Final = re.compile(rb"[^0-9A-Fa-f\\nr\s]")


def find(text: bytes, hints: Container[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where digits are that have a text or the head of a file in them."""
    del hints
    return outermost(places(text, _DIGITS, *(_APART if _OCTETS.search(text) else ())))


def find_deflated(text: bytes, hints: Container[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where digits may be a raw deflate stream."""
    del hints
    for start, end in outermost(places(text, _DEFLATED, is_led=True)):
        if end - start >= LONG_DEFLATED or text.startswith((b"00", b"01"), end - 2):
            yield start, end


def variants(block: bytes) -> Iterator[bytes]:
    """Yield what digits encode, from the first three of them on; those of a dump without their places."""
    if _LINE.match(block.lstrip(b"\n")):
        yield from _dumped(block)
        return
    every = _OTHER.sub(b"", block)
    for start in range(3):
        yield _octets_of(every[start:])


def _dumped(block: bytes) -> Iterator[bytes]:
    """Yield what a dump shows, and the same when it is one of words with their last octet first."""
    cells = [found[1].split() for line in block.splitlines() if (found := _LINE.match(line))]
    yield bytes.fromhex("".join(one.decode() for line in cells for one in line))
    if all(len(one) == 4 for line in cells for one in line):  # noqa: PLR2004  digits of a word
        yield bytes.fromhex("".join((one[2:] + one[:2]).decode() for line in cells for one in line))


def stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what long digits encode that the pieces begin with."""
    hexadecimal = (_OTHER.sub(b"", piece) for piece in until(_ENDS, pieces))
    return changed(hexadecimal, _octets_of, lambda held: len(held) & ~1)


def _octets_of(hexadecimal: bytes) -> bytes:
    return bytes.fromhex(hexadecimal[: len(hexadecimal) & ~1].decode())
