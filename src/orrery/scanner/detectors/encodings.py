"""What a text has in another way of writing: mark-up, addresses, escapes of programs, mail."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache

from orrery.scanner.detectors.hints import MAIL, UTF_7, WIDE, WRITTEN
from orrery.scanner.findings import BETWEEN
from orrery.scanner.regex import around, compiled
from orrery.syntax.character_folding import plain, tags_as_text

DEPTH = 4
"""How often what was written in another way is read again: an entity in a percent-encoded address is two."""

_COMPILED = {one: compiled(one) for one in (WRITTEN, UTF_7, MAIL, WIDE)}

KEPT = 2048
"""Ways of writing of which the meaning is kept: the same few come again and again."""

_ENTITY = re.compile(r"&(?:#0*[0-9]{1,7};?|#[xX]0*[0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)")
_PERCENT = re.compile(r"%(?:[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*|u[0-9a-fA-F]{4}(?:%u[0-9a-fA-F]{4})*)")
_ESCAPE = re.compile(
    r"\\(?:\\{0,3}(?:u\{[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}(?:\\{1,4}u[0-9a-fA-F]{4})*"
    r"|x[0-9a-fA-F]{2}(?:\\{1,4}x[0-9a-fA-F]{2})*)|[0-3][0-7]{2}(?:\\[0-3][0-7]{2})*)"
)
_ESCAPES = {"&": _ENTITY, "%": _PERCENT, "\\": _ESCAPE}
_UTF_7 = re.compile(rb"\+[A-Za-z0-9+/]{3,}-?")
_DOT = re.compile(r"[ ]?[\[({<][ ]?(?:\.|[dD][oO][tT])[ ]?[\])}>][ ]?|[ ][dD][oO][tT][ ](?=\w)|,[ ]?[dD][cC]=")
_AT = re.compile(
    r"[ ]?[\[({<][ ]?(?:@|[aA][tT])[ ]?[\])}>][ ]?|[ ][aA][tT][ ](?=[\w-]{1,63}(?:\.|[ ][dD][oO][tT][ ])\w)"
)
_STRING = re.compile(rb"(?:[\t\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xf4][\x80-\xbf]{2,3}){4,}")
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\f\x1b"))
_NOT_ASCII = bytes(range(128, 256))
_QUOTED = re.compile(rb"=\r?\n|(?:=[0-9A-F]{2})+")
_HEX = re.compile(r"[0-9a-fA-F]{2}")
_OCTAL = re.compile(r"[0-7]{3}")
_SURROGATES = range(0xD800, 0xE000)
_UNIT = re.compile(r"[0-9a-fA-F]{4}")
_BREAKS = str.maketrans("\t\n\v\f\r", "     ")

Read = Callable[[bytes], str]


def readings(block: bytes, hints: set[str]) -> Iterator[tuple[int, int, Read]]:
    """Yield which parts of a piece of text are to be read in another way, from where to where, and how."""
    if WRITTEN in hints:
        yield from _written(block)
    for expression, read in ((UTF_7, as_utf_7), (MAIL, as_mail), (WIDE, as_wide)):
        if expression in hints:
            yield from ((start, end, read) for start, end in around(_COMPILED[expression], block))


def _written(block: bytes) -> Iterator[tuple[int, int, Read]]:
    tagged = b"\xf3\xa0\x80" in block or b"\xf3\xa0\x81" in block
    read = _as_strings if _is_binary(block) else as_text
    for start, end in [(0, len(block))] if _is_foreign(block) else around(_COMPILED[WRITTEN], block):
        yield start, end, read
        if tagged:
            yield start, end, _as_text_with_tags


def _is_foreign(block: bytes) -> bool:
    return not block.isascii() and len(block) - len(block.translate(None, _NOT_ASCII)) > len(block) // 16


def _is_binary(block: bytes) -> bool:
    return controls(block.replace(BETWEEN, b"\n")) > len(block) // 64


def controls(text: bytes) -> int:
    """Return how many characters of a text are such as ordinary text does not have."""
    return len(text) - len(text.translate(None, _CONTROLS))


def as_text(piece: bytes) -> str:
    """Return a piece of text as it is read, in plain letters. A line end stays one, and none is added."""
    return _read(piece.decode("utf-8", "surrogateescape"))


def _as_text_with_tags(piece: bytes) -> str:
    return _read(tags_as_text(piece.decode("utf-8", "surrogateescape")))


def as_mail(piece: bytes) -> str:
    """Return a piece of a mail in the encoding quoted-printable."""
    return as_text(_QUOTED.sub(_unquoted, piece))


def _as_strings(piece: bytes) -> str:
    return as_text(b"\n".join(_STRING.findall(piece)))


def as_utf_7(piece: bytes) -> str:
    """Return a piece of UTF-7: its `+AGE-` may also be other text with a plus."""
    return as_text(_UTF_7.sub(_utf_7, piece))


def as_wide(piece: bytes) -> str:
    """Return a piece of UTF-16 with ASCII in it, as other programs' files have it."""
    return as_text(piece.replace(b"\0", b""))


def _read(text: str) -> str:
    text = plain(text)
    for _ in range(DEPTH):
        before = text
        for mark, expression in _ESCAPES.items():
            if mark in text:
                text = expression.sub(lambda found: _meaning(found[0]), text)
        if text == before:
            break
        text = plain(text)
    return text


def refanged(text: str) -> str:
    """Return a text with a dot and an @ where they are written as words or in brackets."""
    return _AT.sub("@", _DOT.sub(".", text))


def _unquoted(found: re.Match[bytes]) -> bytes:
    if found[0].endswith(b"\n"):
        return b""
    octets = bytes.fromhex(found[0].replace(b"=", b"").decode())
    return octets.translate(_OCTET_BREAKS)


_OCTET_BREAKS = bytes.maketrans(b"\t\n\v\f\r", b"     ")


def _utf_7(found: re.Match[bytes]) -> bytes:
    try:
        text = found[0].decode("utf-7")
    except UnicodeDecodeError:
        return found[0]
    return text.encode() if text.isprintable() else found[0]


@lru_cache(KEPT)
def _meaning(escape: str) -> str:
    if escape.startswith("&"):
        from html import unescape  # noqa: PLC0415  its tables take longer to load than most scans have entities

        return unescape(escape).translate(_BREAKS)
    form = escape.lstrip("\\%")[0]
    if form in "uU":
        return _code_points(escape)
    is_octal = form != "x" and not escape.startswith("%")
    digits = _OCTAL.findall(escape) if is_octal else _HEX.findall(escape)
    return _octets(escape, [int(one, 8 if is_octal else 16) for one in digits])


def _code_points(text: str) -> str:
    if "{" in text or "U" in text:
        code = int(re.sub(r"[^0-9a-fA-F]", "", text), 16)
        is_character = code <= sys.maxunicode and code not in _SURROGATES
        return chr(code).translate(_BREAKS) if is_character else text
    units = b"".join(int(one, 16).to_bytes(2, "big") for one in _UNIT.findall(text))
    return units.decode("utf-16-be", "replace").translate(_BREAKS)


def _octets(text: str, octets: list[int]) -> str:
    """Return the text that octets are: UTF-8, or each a letter of Latin-1; what is neither is not changed."""
    data = bytes(octets)
    try:
        return data.decode().translate(_BREAKS)
    except UnicodeDecodeError:
        pass
    width = len(text) // len(octets)
    parts = [text[at * width : (at + 1) * width] for at in range(len(octets))]
    return "".join(_octet(part, code) for part, code in zip(parts, octets, strict=True))


def _octet(part: str, code: int) -> str:
    one = chr(code)
    digits = part[-2:]
    known = one.isascii() or (one.isalpha() and digits in {digits.upper(), digits.lower()})
    return one.translate(_BREAKS) if known else part
