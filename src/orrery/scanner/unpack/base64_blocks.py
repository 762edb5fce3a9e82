"""Base64 in texts: keys, tokens, pictures in pages, certificates, files in JSON, and values of a few letters."""

import re
from binascii import a2b_base64
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from itertools import accumulate, chain, islice
from typing import Final

from orrery.scanner.base64_letters import ALPHABET, STANDARD, OneOf, decoded, letter, letters
from orrery.scanner.regex import Regex, compiled, outermost, places
from orrery.scanner.unpack.inflating import begins_raw
from orrery.scanner.unpack.view import changed, until

_WRAP: Final = rb"\r?\n[ \t]*(?:[>|*#;%] ?)?|(?:\\r)?\\n|[\"'][ \t]*[+.,\\]?[ \t]*\r?\n[ \t]*[\"']"
"""A wrap without the blanks before it: from each of them `re` would read all that follow."""

WRAP: Final = rb"(?:[ \t]*" + _WRAP + b")"
"""Where a form is wrapped: at the end of a line, quoted, commented or not, and between strings of a program."""

JUDGED: Final = 8
"""Octets from which on what is decoded is taken for a text: fewer come about in what is none."""

SHORTEST: Final = 8
"""Characters of the shortest block that is judged; in shorter ones the terms' own forms are searched."""

SHORTEST_DEFLATED: Final = 7
"""Characters of the shortest stream: three letters."""

_ANY: Final = rb"(?:[A-Za-z0-9+/_-]|\\/)"
_BESIDE: Final = b"."
_PLAIN: Final = ALPHABET + b"-_= \t\r\n"
_WRAPPED: Final = re.compile(_WRAP)
_OF_WRAPS: Final = b" \t\r\n>|*#;%\"'+.,\\"

LONGEST_WRAP: Final = 256
"""Characters of a wrap in a block over windows."""

_ENDS: Final = re.compile(rb"[^A-Za-z0-9+/_\-\\\s]")


_GAP: Final = WRAP + b"?"
_ASCII: Final = range(0x20, 0x7F)
_TWO: Final = (range(0xC2, 0xE0), range(0x80, 0xC0))
_THREE: Final = (range(0xE0, 0xF0), range(0x80, 0xC0), range(0x80, 0xC0))
"""A letter of UTF-8 in two octets, and in three."""


def _anywhere(*octets: OneOf) -> list[bytes]:
    """Return the patterns for octets at each of the three places in a group."""
    return [letters(octets, at, _GAP) for at in range(3)]


_HEADS: Final = rb"H4sI|UEsDB|iVBOR|JVBER|R0lGO|/9j/|Qlpo|[/_]Td6W"
"""How gzip, zip, PNG, PDF, GIF, JPEG, bzip2 and xz begin where a block does."""

LONG_DEFLATED: Final = 50
"""Characters from which on a stream may have own codes."""

LONG: Final = b"[A-Za-z0-9+/]{60}"
"""A line of a block that may be a file, although nothing in it shows of which kind."""

_REST: Final = b"(?:" + _GAP + _ANY + b")"


def _block(*telling: bytes) -> Regex:
    """Return what matches a block with one of several things in it."""
    return compiled(b"(?:" + _ANY + _GAP + b")*(?:" + b"|".join(telling) + b")" + _REST + b"*={0,2}")


_NUL: Final = range(1)
_WIDE: Final = (letters([_ASCII, _NUL] * 3, gap=_GAP), letters([_ASCII, *[_NUL] * 3] * 2, gap=_GAP))
"""Three letters of ASCII in UTF-16, and two in UTF-32."""

_BLOCKS: Final = (
    _block(letters([_ASCII] * 6, gap=_GAP), *_WIDE, _HEADS),
    _block(*_anywhere(*_TWO * 3), *_anywhere(*_THREE * 3)),
)
"""Blocks with a stretch of text in them, at any alignment, or with the head of a file.

Eight octets of ASCII have two whole groups, wherever they begin.
"""

_CODES: Final = tuple(
    letter(tuple(one for one in range(len(ALPHABET)) if one & 7 in kinds)) for kinds in ((0, 1, 2, 3), (4, 5))
)
_ZLIB_HEAD: Final = (
    b"e(?:J[w-z]|N[o-r]|A[E-H]|F[4-7])" + _GAP + b"(?:%b%b{10}|%b%b{20})" % (_CODES[0], _REST, _CODES[1], _REST)
)
"""How zlib begins, with a block of fixed codes or none, or of individual codes, which is longer: RFC 1951, 3.2.3.

It is searched for by itself: what begins with a fixed character is found ten times as fast.
"""

_ZLIB: Final = (compiled(_ZLIB_HEAD), _block(_ZLIB_HEAD))

_LONG: Final = _block(LONG)
_SMALL: Final = bytes(range(ord("a"), ord("z") + 1))
_BEGINS: Final = b"(?:^|[^A-Za-z0-9+])"
_FIXED: Final = rb"[CKMOSUceiqsuy048][w-z0-9+/_-]"
_OWN: Final = rb"[BDFHJLNPRTVXZbdfhjlnprtvxz13579][A-Za-f]"
"""How a raw deflate stream of a text begins: with a block of fixed codes, or, if it is longer, of individual ones.

See RFC 1951, 3.2.3.
"""

FIXED: Final = _BEGINS + _FIXED + _REST + b"{%d,}" % (SHORTEST_DEFLATED - 3) + _GAP + rb"[ABEQ]\b"
"""A stream in fixed codes: it ends in seven bits that are zero."""

_FIXED_CODES: Final = compiled(FIXED + b"={0,2}")
_OWN_CODES: Final = compiled(_BEGINS + _OWN + _REST + b"{%d,}={0,2}" % (LONG_DEFLATED - 2))
_STARTS: Final = re.compile(b"(?:[/_-]|" + _WRAP + b")(?=" + _FIXED + b"|" + _OWN + b")")
_ENDS_FIXED: Final = (b"A", b"B", b"E", b"Q")
_TRIED: Final = 32
_PARTS: Final = 16
"""Places in a run behind `/`, `-`, `_` and line ends at which a stream may begin, as behind a path."""

_APART: Final = b"A" * 8
"""Letters between blocks that are decoded together: at least four octets that are zero."""


def find(text: bytes, hints: Container[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where blocks are that have a text or the head of a file in them, or are long, one after another."""
    long = places(text, _LONG) if LONG in hints else ()
    files = (place for place in long if is_mixed(text[slice(*place)]))
    packed = places(text, _ZLIB[1]) if _ZLIB[0].search(text) else ()
    return outermost(chain(places(text, *_BLOCKS), packed, files))


def find_deflated(text: bytes, hints: Container[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where a block may be a raw deflate stream, at its beginning or behind `/`, `-`, `_` or a line end."""
    regexes = (_OWN_CODES, _FIXED_CODES) if FIXED in hints else (_OWN_CODES,)
    return outermost(places(text, *regexes, is_led=True))


def is_mixed(block: bytes) -> bool:
    """Return whether letters may be those of octets that nothing can read, and are no words, names or digits.

    Of 64 letters 26 are small, and 26 are capital: in octets of chance neither is ever less than a tenth, or more
    than three quarters. Octets that are zero, or have all bits, are left out: real files have many.
    """
    plain = _stripped(block).translate(None, b"A/")
    small, capital = (len(plain) - len(plain.translate(None, case)) for case in (_SMALL, _SMALL.upper()))
    return 10 * min(small, capital) >= len(plain) and 4 * max(small, capital) <= 3 * len(plain)


class AlignedBlocks:
    """Blocks that are decoded in one text, at each of the four alignments."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        plain = _standard(_BESIDE.join(map(_unwrapped, blocks))).split(_BESIDE)
        begins = accumulate((len(one) + len(_APART) for one in plain), initial=0)
        self._places = [(begin, begin + len(one)) for begin, one in zip(begins, plain, strict=False)]
        self._plain = _APART.join(plain) + _APART

    def decoded(self) -> Iterator[tuple[int, bytes]]:
        """Yield each alignment, and what the blocks encode there."""
        for start in range(4):
            yield start, a2b_base64(self._plain[start : start + (len(self._plain) - start & ~3)])

    def block_at(self, start: int, place: int) -> tuple[int, int, int]:
        """Return the number of the block that encodes an octet, and where its octets begin and end."""
        number = bisect_right(self._places, (start + place * 4 // 3 + 1,)) - 1
        begin, end = ((letter - start) * 3 // 4 for letter in self._places[number])
        return number, begin, end


def heads(block: bytes) -> Iterator[int]:
    """Yield where a file may begin in a block that is too long to be taken whole: at its beginning and in it."""
    yield 0
    yield from (found.start() for found in re.finditer(_HEADS, block) if found.start())


def variants(block: bytes) -> Iterator[bytes]:
    """Yield what a block encodes at each of its four alignments."""
    plain = _stripped(block)
    for start in range(4):
        yield decoded(plain[start:])


def streams(block: bytes) -> Iterator[bytes]:
    """Yield what a block encodes from each place on at which its first letters may begin a stream."""
    least = SHORTEST_DEFLATED if block.rstrip(b"=").endswith(_ENDS_FIXED) else LONG_DEFLATED - 2
    for start in (0, *(found.end() for found in islice(_STARTS.finditer(block), _PARTS))):
        if len(block) - start >= least and begins_raw(decode(block[start : start + _TRIED])):
            yield decode(block[start:])


def decode(block: bytes) -> bytes:
    """Return what a block of Base64 encodes, in either alphabet, wrapped, with or without its end."""
    return decoded(_stripped(block))


def _stripped(block: bytes) -> bytes:
    return _standard(_unwrapped(block))


def _unwrapped(block: bytes) -> bytes:
    """Return a block without what it is wrapped in: few are quoted, commented, or within a string."""
    return _WRAPPED.sub(b"", block) if block.translate(None, _PLAIN) else block


def _standard(block: bytes) -> bytes:
    return block.translate(STANDARD, b" \t\r\n\\=")


def stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a long block encodes that the pieces begin with."""
    joined = changed(pieces, lambda held: _WRAPPED.sub(b"", held), _before_wrap)
    return changed(map(_stripped, until(_ENDS, joined)), decoded, lambda held: len(held) & ~3)


def _before_wrap(held: bytes) -> int:
    """Return where the characters at the end begin that may be the first ones of a wrap."""
    end = len(held.removesuffix(rb"\r").rstrip(_OF_WRAPS))
    return end if len(held) - end < LONGEST_WRAP else len(held)
