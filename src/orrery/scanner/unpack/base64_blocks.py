"""Base64 in texts: keys, tokens, pictures in pages, certificates, files in JSON, and values of a few letters."""

import re
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from orrery.scanner.regex import compiled, spans

WRAP: Final = rb"(?:[ \t]*\r?\n[ \t]*(?:[>|*#;%] ?)?|(?:\\r)?\\n|[\"'][ \t]*[+.,\\]?[ \t]*\r?\n[ \t]*[\"'])"
"""Where a form is wrapped: at the end of a line, quoted, commented or not, and between strings of a program."""

SHORTEST: Final = 8
"""Characters of the shortest block that is judged; in shorter ones the terms' own forms are searched."""

SHORTEST_DEFLATED: Final = 7
"""Characters of the shortest stream: three letters."""

LONG_DEFLATED: Final = 50
"""Characters from which on a stream may have own codes; with fixed ones it ends in seven bits that are zero."""

_ENDS_FIXED: Final = (b"A", b"B", b"E", b"Q")
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ANY: Final = rb"(?:[A-Za-z0-9+/_-]|\\/)"
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_PLAIN: Final = _ALPHABET.encode() + b"-_= \t\r\n"
_WRAPPED: Final = re.compile(WRAP)
_ENDS: Final = re.compile(rb"[^A-Za-z0-9+/_\-\\\s]")


def _one(which: Callable[[int], bool]) -> bytes:
    """Return a pattern for the letters whose six bits are as asked for, of both alphabets."""
    letters = "".join(one for number, one in enumerate(_ALPHABET) if which(number))
    known = re.sub(r"[+/]", lambda found: {"+": r"+\-", "/": "/_"}[found[0]], letters).encode()
    return rb"(?:[%b]|\\/)" % known if b"/" in known else b"[%b]" % known


_OCTETS: Final[dict[str, tuple[Callable[[int], bool], ...]]] = {
    "a": (lambda top: 8 <= top <= 31, lambda top: 2 <= top <= 7, lambda top: top <= 1),  # noqa: PLR2004  the bits of an octet
    "l": (lambda top: 48 <= top <= 55, lambda top: 12 <= top <= 13, lambda top: top == 3),  # noqa: PLR2004  the same
    "t": (lambda top: 56 <= top <= 59, lambda top: top == 14, lambda top: top == 3),  # noqa: PLR2004  the same
    "c": (lambda top: 32 <= top <= 47, lambda top: 8 <= top <= 11, lambda top: top == 2),  # noqa: PLR2004  the same
}
"""What the first six, four and two bits of an octet are: ASCII, the first of two or three, one that follows."""


def _group(octets: str) -> bytes:
    """Return a pattern for the four letters of three octets."""
    first, second, third = (_OCTETS[one][at] for at, one in enumerate(octets))
    letters = (
        _one(first),
        _one(lambda bits: second(bits & 15)),
        _one(lambda bits: third(bits & 3)),
        _ANY,
    )
    return (WRAP + b"?").join(letters)


def _groups(*octets: str) -> bytes:
    return (WRAP + b"?").join(_group(one) for one in octets)


_WIDE: Final = (WRAP + b"?").join(
    (_one(lambda bits: 8 <= bits <= 31), b"[AQgw]", b"[AB]", _ANY, b"A", b"[C-H]", b"[AEIMQUYcgkosw048]", b"A")  # noqa: PLR2004  the bits of an octet
)
"""Three letters of ASCII in UTF-16."""

_WIDER: Final = (WRAP + b"?").join(
    (_one(lambda bits: 8 <= bits <= 31), *(b"[AQgw]", b"A", b"A", b"A", b"[C-H]", b"[AEIMQUYcgkosw048]", b"A"))  # noqa: PLR2004  the same
)
"""A pair of letters in UTF-32."""

_HEADS: Final = rb"H4sI|eJ[w-z]|eN[o-r]|eA[E-H]|eF[4-7]|UEsDB|iVBOR|JVBER|R0lGO|/9j/|Qlpo|[/_]Td6W"
"""How gzip, zlib, zip, PNG, PDF, GIF, JPEG, bzip2 and xz begin where a block does."""

_GAP: Final = WRAP + b"?"
_REST: Final = b"(?:" + _GAP + _ANY + b")"
_BLOCKS: Final = tuple(
    compiled(b"(?:" + _ANY + _GAP + b")*(?:" + b"|".join(telling) + b")" + _REST + b"*={0,2}")
    for telling in (
        (_groups("aaa", "aaa"),),
        (
            *(_groups(one, two) for one, two in (("lcl", "clc"), ("clc", "lcl"))),
            *(_groups(one, one) for one in ("tcc", "ctc", "cct")),
            _WIDE,
            _WIDER,
            _HEADS,
        ),
    )
)
"""Blocks with a stretch of text in them at any alignment, or with the head of a file."""

_FIXED: Final = rb"[CKMOSUceiqsuy048][w-z0-9+/_-]"
_OWN: Final = rb"[BDFHJLNPRTVXZbdfhjlnprtvxz13579][A-Za-f]"
"""How a raw deflate stream of a text begins: with a block of fixed codes, or, if it is longer, of its own ones.

See RFC 1951, 3.2.3.
"""

_DEFLATED: Final = tuple(
    compiled(b"(?:^|[^A-Za-z0-9+])" + begins + _REST + least + b"={0,2}")
    for begins, least in ((_FIXED, b"{5,}"), (_OWN, b"{48,}"))
)
_STARTS: Final = re.compile(b"(?:[/_-]|" + WRAP + b")(?=" + _FIXED + b"|" + _OWN + b")")
_PARTS: Final = 16
"""Places in a run behind `/`, `-`, `_` and line ends at which a stream may begin, as behind a path."""


def find(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where blocks are that have a text or the head of a file in them, one after another."""
    yield from spans(text, *_BLOCKS)


def find_deflated(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where a block may be a raw deflate stream, at its beginning or behind `/`, `-`, `_` or a line end."""
    for start, end in spans(text, *_DEFLATED, is_led=True):
        if end - start >= LONG_DEFLATED or text[start:end].rstrip(b"=").endswith(_ENDS_FIXED):
            yield start, end


def heads(block: bytes) -> Iterator[int]:
    """Yield where a file may begin in a block that is too long to be taken whole: at its beginning and in it."""
    yield 0
    yield from (found.start() for found in re.finditer(_HEADS, block) if found.start())


def variants(block: bytes) -> Iterator[bytes]:
    """Yield what a block says at each of its four alignments."""
    plain = _stripped(block)
    for start in range(4):
        yield _octets(plain[start:])


def streams(block: bytes) -> Iterator[bytes]:
    """Yield what a block says from each place on at which a stream may begin."""
    yield decode(block)
    for found in islice(_STARTS.finditer(block), _PARTS):
        yield decode(block[found.end() :])


def decode(block: bytes) -> bytes:
    """Return what a block of Base64 says, in either alphabet, wrapped, with or without its end."""
    return _octets(_stripped(block))


def _octets(plain: bytes) -> bytes:
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return a2b_base64(plain + b"=" * (-len(plain) % 4))
    except Error:
        return b""


def _stripped(block: bytes) -> bytes:
    if block.translate(None, _PLAIN):  # quoted, commented, or within a string
        block = _WRAPPED.sub(b"", block)
    return block.translate(_STANDARD, b" \t\r\n\\=")


def stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a long block says that the pieces begin with."""
    held = b""
    for piece in pieces:
        end = _ENDS.search(piece)
        held += (piece[: end.start()] if end else piece).replace(b"\\n", b"").replace(b"\\r", b"")
        held = held.translate(_STANDARD, b" \t\r\n\\")
        whole = len(held) & ~3
        if end:
            break
        yield decode(held[:whole])
        held = held[whole:]
    yield decode(held)
