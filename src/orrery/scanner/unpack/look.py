"""What a file is, by its content first and its name second, and how it is read."""

import re
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Final, NamedTuple, cast

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.encodings import is_text, wide
from orrery.scanner.unpack.limits import Broken
from orrery.scanner.unpack.parts import Part
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.unreadable import misnamed, unreadable
from orrery.scanner.unpack.view import WINDOW, Views

Reader = Callable[[Part, bytes], Views]


class _Kind(NamedTuple):
    begins: re.Pattern[bytes]
    reader: str


_KINDS: Final = tuple(
    _Kind(re.compile(pattern, re.DOTALL), f"orrery.scanner.unpack.{reader}")
    for pattern, reader in (
        (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", "zips:read"),
        (rb"\x1f\x8b\x08", "streams:read"),
        (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "streams:read"),
        (rb"\xfd7zXZ\x00", "streams:read"),
        (rb"\x5d\x00\x00[\x00-\xff]{2}(?:\xff{8}|[\x00-\xff]{5}\x00{3})", "streams:read"),
        (rb"\x78[\x01\x5e\x9c\xda]", "streams:read_zlib"),
        (rb"\x89PNG\r\n\x1a\n", "images:read_png"),
        (rb"\xff\xd8\xff", "images:read_jpeg"),
        (rb"GIF8[79]a", "images:read_gif"),
        (rb".{0,1020}%PDF-", "pdf:read"),
        (rb"\{\\rtf", "rtf:read"),
        (rb".{257}ustar", "tars:read"),
    )
)
_ZIP_END: Final = b"PK\x05\x06"
_ZIP_TAIL: Final = 66 * 1024
_MAIL: Final = re.compile(rb"(?:From |>?[!-9;-~]{1,60}:[ \t\r\n])")
_MAIL_NAMES: Final = (".eml", ".mbox", ".mbx", ".mht", ".mhtml", ".nws")


def look(part: Part) -> Views:
    """Yield every text in a file, and what could not be read."""
    try:
        first = part.content.read(WINDOW)
        yield from _look(part, first)
    except OSError:
        yield NotRead(part.place, "It could not be read from the disk to its end: read it again.")


def _look(part: Part, first: bytes) -> Views:
    reader = reader_of(first, part.name)
    why = ""
    try:
        if reader:
            yield from _resolved(reader)(part, first)
    except Broken as broken:
        if is_text(first):
            reader = ""
        else:
            why = str(broken)
    if why or not reader:
        yield from texts(part, first)
        if not is_text(first):
            yield from _appended_zip(part)
    why = why or unreadable(part, first) or ("" if reader else misnamed(part.name, first))
    if why:
        yield NotRead(part.place, why)


def reader_of(first: bytes, name: str) -> str:
    """Return the name of what reads a kind of file; nothing for a text, and for what nothing reads."""
    for kind in _KINDS:
        if kind.begins.match(first):
            return kind.reader
    if _is_mail(first, name):
        return "orrery.scanner.unpack.mail:read"
    if name.lower().endswith(".tar") and not is_text(first) and not wide(first):
        return "orrery.scanner.unpack.tars:read"
    return ""


def _resolved(reader: str) -> Reader:
    return cast("Reader", resolve_name(reader))


def _is_mail(first: bytes, name: str) -> bool:
    if not _MAIL.match(first):
        return False
    from orrery.scanner.unpack.mail_headers import begins_as_mail  # noqa: PLC0415  few files look like mail at all

    return name.lower().endswith(_MAIL_NAMES) or begins_as_mail(first)


def _appended_zip(part: Part) -> Views:
    size = part.content.seek(0, 2)
    _ = part.content.seek(max(0, size - _ZIP_TAIL))
    if _ZIP_END in part.content.read():
        _ = part.content.seek(0)
        try:
            yield from _resolved("orrery.scanner.unpack.zips:read")(part, b"")
        except Broken:
            yield NotRead(part.place, "It seems to hold a zip archive that is damaged: take that out of it.")
