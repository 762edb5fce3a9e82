"""Encodings: what is not UTF-8 becomes it, whole or in stretches of a binary file."""

import codecs
import re
from binascii import a2b_qp
from collections.abc import Iterable, Iterator
from typing import Final

from orrery.scanner.regex import Regex, compiled
from orrery.scanner.unpack.view import changed

_BOMS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # first, because it begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD: Final = 4096
_ASCII: Final = bytes(range(128))
_SHORTEST: Final = 8
_ALL_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_CONTINUES: Final = bytes(range(0x80, 0xC0))
_PIECE: Final = 1024 * 256

_WIDE: Final = {
    "utf-16-le": rb"(?:[^\x00][\x00-\x06]|[\x10-\x1f]\x20){4,}",
    "utf-16-be": rb"(?:[\x00-\x06][^\x00]|\x20[\x10-\x1f]){4,}",
    "utf-32-le": rb"(?:[^\x00][\x00-\x06]\x00\x00){4,}",
    "utf-32-be": rb"(?:\x00\x00[\x00-\x06][^\x00]){4,}",
}
WIDE: Final = b"|".join(_WIDE.values())
"""Four characters and more of the alphabets below U+0700, and quotation marks and dashes (U+2010 to U+201F)."""

_STRETCHES: Final = [(compiled(pattern), encoding) for encoding, pattern in _WIDE.items()]
_NEAR: Final = rb"[ -~\x80-\xff]{0,64}"
_LOW: Final = rb"[\x9a\x9c\x9e\xdf-\xff]"
_UPPER: Final = rb"[\x8a\x8c\x8e\x9f\xc0-\xde]"
_WORDS: Final = (
    rb"[A-Za-z]%(l)b[a-z]{2}|[A-Za-z][a-z](?:%(l)b[a-z]|[a-z]%(l)b)|(?:%(l)b|%(u)b)[a-z]{3}"
    rb"|[A-Z]%(u)b[A-Z]{2}|[A-Z]{2}(?:%(u)b[A-Z]|[A-Z]%(u)b)|%(u)b[A-Z]{3}"
)
_WESTERN: Final = compiled(_NEAR + rb"(?:" + _WORDS % {b"l": _LOW, b"u": _UPPER} + rb")" + _NEAR)
"""A word of cp1252 with a letter that is not English, all lower or all upper case but for its initial."""

_PAGES: Final = ("cp1250", "cp850", "cp852", "mac_roman", "mac_latin2", "iso8859_2", "iso8859_15", "cp437")
"""Code pages of Western and Central Europe beside cp1252, of Windows, DOS, the Mac and Unix."""

_FOREIGN: Final = compiled(rb"[^\n]{0,64}[\x80-\xff][^\n]{0,64}")
_H: Final = rb"[\x80-\xff]"
_FOREIGN_WORD: Final = compiled(
    _NEAR
    + (
        rb"(?:[A-Za-z]%(h)b[a-z]{3}|[A-Za-z][a-z]%(h)b[a-z]{2}|[A-Za-z][a-z]{2}(?:%(h)b[a-z]|[a-z]%(h)b)|%(h)b[a-z]{4}"
        rb"|[A-Za-z][a-z]{1,2}%(h)b[a-z]?%(h)b[a-z])" % {b"h": _H}
    )
    + _NEAR
)
"""A word in a binary file with a letter that is not English, in whatever code page: and one more letter."""

_DECLARED: Final = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""")


def is_text(text: bytes) -> bool:
    """Return whether there is no control character that a text does not have."""
    return len(text.translate(None, _ALL_CONTROLS)) == len(text)


def is_utf8(text: bytes) -> bool:
    """Return whether a piece of a text is UTF-8; a character may be cut at either end."""
    if text.isascii():
        return True
    cut = len(text[:3]) - len(text[:3].lstrip(_CONTINUES))
    try:
        _ = codecs.getincrementaldecoder("utf-8")().decode(text[cut:])
    except UnicodeDecodeError:
        return False
    return True


def wide(first: bytes) -> str:
    """Return the encoding of a text in UTF-16 or UTF-32, by its mark or by where it has zeros; else nothing."""
    for mark, name in _BOMS:
        if first.startswith(mark):
            return name
    head = first[: min(_HEAD, len(first) & ~3)]
    if len(head) < _SHORTEST or 4 * head.count(0) < len(head):
        return ""
    for name, zeros, texts in (
        ("utf-32-le", (2, 3), (0,)),
        ("utf-32-be", (0, 1), (3,)),
    ):
        if all(not head[place::4].strip(b"\0") for place in zeros) and all(
            0 not in head[place::4] for place in texts
        ):
            return name
    lows, highs = head[0::2], head[1::2]
    for name, zero, text in (("utf-16-le", highs, lows), ("utf-16-be", lows, highs)):
        if 0 not in text and 2 * zero.count(0) > len(zero) and is_text(head.decode(name, "replace").encode()):
            return name
    return ""


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a text as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        for start in range(0, len(piece), _PIECE):
            yield decoder.decode(piece[start : start + _PIECE]).encode(errors="replace")
    yield decoder.decode(b"", final=True).encode(errors="replace")


def stretches(text: bytes) -> Iterator[bytes]:
    """Yield the lines in UTF-16, UTF-32 and cp1252 within a binary one, as UTF-8."""
    for pattern, encoding in _STRETCHES:
        for found in pattern.finditer(text):
            yield text[slice(*found.span())].decode(encoding, "replace").encode(errors="replace")
    if not text.isascii():
        for found in _WESTERN.finditer(text):
            yield text[slice(*found.span())].decode("cp1252", "replace").encode()
        yield from in_other_pages(text, _FOREIGN_WORD)


def in_other_pages(text: bytes, pattern: Regex = _FOREIGN) -> Iterator[bytes]:
    """Yield what is not ASCII in a text, with what is near, in each code page in which it reads differently."""
    if 4 * len(text.translate(None, _ASCII)) > len(text):  # such texts have few other letters
        return
    near = b"\n".join(text[slice(*found.span())] for found in pattern.finditer(text))
    seen = {near.decode("cp1252", "replace")}
    for page in _PAGES if near else ():
        if (other := near.decode(page, "replace")) not in seen:
            seen.add(other)
            yield other.encode()


def declared(first: bytes) -> str:
    """Return the encoding with 8 bits that a page or a document declares; else nothing."""
    found = _DECLARED.search(first[:_HEAD])
    return known(found[1].decode()) if found else ""


def known(encoding: str) -> str:
    """Return the name of an encoding if it can be read and is not UTF-8 in any case; else nothing."""
    try:
        name = codecs.lookup(encoding).name
        _ = b"".decode(name)
    except (LookupError, ValueError):
        return ""
    return "" if name in {"utf-8", "ascii"} else name


def unquoted(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a text in quoted-printable as it is shown."""
    return changed(pieces, a2b_qp, _before_code)


def _before_code(held: bytes) -> int:
    """Return the end of the last line, or, in a long line, where a code begins that may be cut."""
    code = held.rfind(b"=", max(0, len(held) - 2))
    return held.rfind(b"\n") + 1 or (len(held) if code < 0 else code)
