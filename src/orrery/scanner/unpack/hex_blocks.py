"""Hexadecimal digits in texts: plain and wrapped, with blanks or colons or `0x`, and as programs dump a file."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from orrery.scanner.unpack.byte_patterns import finder, spans

SHORTEST: Final = 12
"""Digits of the shortest block that is judged; in shorter ones the terms' own forms are searched."""

_X: Final = rb"[0-9A-Fa-f]"
_XX: Final = _X + _X


def _octets(which: Iterable[int]) -> bytes:
    """Return a pattern for the digits of octets."""
    return b"(?:" + b"|".join(b"[%X%x][%X%x]" % (*[one >> 4] * 2, *[one & 15] * 2) for one in which) + b")"


_TELLING: Final = (
    (b"(?:[2-7]%b|0[9AaDd]|[CcDd]%b[89ABab]%b|[Ee]%b[89ABab]%b[89ABab]%b){6}").replace(b"%b", _X),
    b"(?:[2-7]%b00){4}|(?:00[2-7]%b){4}" % (_X, _X),
    _octets([0x1F]) + b"8[Bb]08|78(?:01|5[Ee]|9[Cc]|[Dd][Aa])",
    b"|".join(_octets([first]) + rest for first, rest in ((0x50, b"4[Bb]0304"), (0x89, b"504[Ee]47"), (0x25, b"504446"))),
    b"[Ff][Dd]377[Aa]58|425[Aa]68",
)
"""UTF-8; UTF-16; and how gzip, zlib, zip, PNG, PDF, xz and bzip2 begin."""

_FIXED: Final = _octets(
    one for one in range(256) if one & 7 in {2, 3} and 0x50 >> 3 <= int(f"{one >> 3:05b}"[::-1], 2) <= 0xAE >> 3
)
"""The first octet of a raw deflate stream whose first letter is ASCII and has its fixed code: RFC 1951, 3.2.6."""

_OWN: Final = _X + b"[45CDcd]"
"""The first octet of a stream that begins with a block of its own codes: RFC 1951, 3.2.3."""

_WRAP: Final = rb"(?:[ \t]*\r?\n[ \t]*|(?:\\r)?\\n)?"
_SEPARATOR: Final = rb"(?:[ \t]?[ \t,:;-](?:[ \t]*\r?\n[ \t]*)?(?:0[xX])?|[ \t]*\r?\n[ \t]*(?:0[xX])?)"
_BEFORE: Final = b"(?:^|[^0-9A-Za-z])"
_PLAIN: Final = (
    finder(_X + b"*(?:" + b"|".join(_TELLING) + b")(?:" + _WRAP + _X + b")*"),
    finder(_BEFORE + b"(?:" + _FIXED + _X + b"{8,}|" + _OWN + b"(?:" + _WRAP + _X + b"){72,})"),
)
_PAIRS: Final = (
    finder(b"(?:" + _XX + _SEPARATOR + b")*[2-7]" + _X + b"(?:" + _SEPARATOR + b"[2-7]" + _X + b"){5}(?:" + _SEPARATOR + _XX + b")*"),
    finder(_BEFORE + b"(?:0[xX])?(?:" + _FIXED + b"|78|1[Ff]|" + _OWN + b")(?:" + _SEPARATOR + _XX + b"){4,}"),
)
_CELLS: Final = b"(?:" + _XX + b"){1,4}(?:[ \t]{1,2}(?:" + _XX + b"){1,4})*"
_OFFSET: Final = rb"[0-9A-Fa-f]{4,16}:?[ \t]{1,4}"
_DUMPED: Final = (finder(rb"(?:" + _OFFSET + _CELLS + rb"(?:[ \t|>][^\r\n]*)?\r?(?:\n[ \t]*|$))+"),)
_LINE: Final = re.compile(rb"[ \t]*" + _OFFSET + b"(" + _CELLS + b")")
_OTHER: Final = re.compile(rb"0[xX]|\\[rn]|[^0-9A-Fa-f]+")
_ENDS: Final = re.compile(rb"[^0-9A-Fa-f\\nr\s]")


def find(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where digits stand that may say something."""
    yield from spans(text, *_PLAIN)


def find_pairs(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where octets stand one by one."""
    yield from spans(text, *_PAIRS)


def find_dumps(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the lines of a dump stand: each with its place, octets, and perhaps what they say."""
    yield from spans(text, *_DUMPED)


def variants(block: bytes) -> Iterator[bytes]:
    """Yield what digits say, from the first one and from the second one on."""
    digits = _OTHER.sub(b"", block)
    for start in range(2):
        yield bytes.fromhex(digits[start : len(digits) - (len(digits) - start) % 2].decode())


def dumped(block: bytes) -> Iterator[bytes]:
    """Yield what a dump says, and the same when it is one of words with their last octet first."""
    cells = [found[1].split() for line in block.splitlines() if (found := _LINE.match(line))]
    yield bytes.fromhex("".join(one.decode() for line in cells for one in line))
    if all(len(one) == 4 for line in cells for one in line):  # noqa: PLR2004  digits of a word
        yield bytes.fromhex("".join((one[2:] + one[:2]).decode() for line in cells for one in line))


def stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what long digits say that the pieces begin with."""
    held = b""
    for piece in pieces:
        end = _ENDS.search(piece)
        held += _OTHER.sub(b"", piece[: end.start()] if end else piece)
        whole = len(held) & ~1
        yield bytes.fromhex(held[:whole].decode())
        held = held[whole:]
        if end:
            return
