"""Zip archives, and all that is one: office documents, programs of Java and Android, wheels, books."""

import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import BROKEN, DamagedFile, LimitReached, breaking
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.view import WINDOW, Views

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_END_64: Final = b"PK\x06\x06"
_TAIL: Final = 65_557
_ENTRY: Final = 320
"""Bytes of an entry in the list of members: more on average would be no archive that somebody packed."""

_LOCAL: Final = struct.Struct("<4s22sHH")
_DESCRIPTOR: Final = 24
_ENCRYPTED: Final = 0x41
_UTF8: Final = 0x800
_METHODS: Final = frozenset({0, 8, 12, 14})
ENCRYPTED: Final = "It is encrypted: remove the password, leave it out, or check what is in it yourself."
_METHOD: Final = "It is compressed by a method that is not read: pack it again by deflate, or leave it out."


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a zip's members, of their names and comments, and of what no member covers."""
    del first
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415  a commit without archives starts faster

    end = _end(part)
    with breaking(BadZipFile, *_ERRORS):
        archive = ZipFile(part.content)
    members = archive.infolist()
    if len(members) > part.budget.limits.members:
        raise LimitReached(part.place, _too_many(part))
    yield from part.text("(names)", archive.comment, *(text for one in members for text in _names(one)))
    for member in members:
        if not member.filename.endswith("/") or member.file_size:
            yield from _member(part, archive, member)
    with breaking(*_ERRORS):
        gaps = list(_gaps(part, members, archive.start_dir))
    for start, stop in gaps:
        yield from part.unpacked("(between members)", "", part.slice(start, stop), stop - start)
    if end < part.size:
        yield from part.rest(end)


_ERRORS: Final = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    LookupError,
    OverflowError,
    struct.error,
    zlib.error,
)


def _end(part: UnpackedFile) -> int:
    """Return where the archive ends; raise for a list of members that would fill the memory when it is read."""
    size = part.size
    start = max(0, size - _TAIL)
    tail = b"".join(part.pieces(start))
    at = tail.rfind(_END)
    if at < 0 or at + _END_SIZE > len(tail):
        raise DamagedFile(BROKEN)
    directory, comment = (int.from_bytes(tail[at + place : at + place + 4], "little") for place in (12, 20))
    large = tail.rfind(_END_64, 0, at)
    if large >= 0:
        directory = int.from_bytes(tail[large + 40 : large + 48], "little")
    if directory > start + at:
        raise DamagedFile(BROKEN)
    if directory > part.budget.limits.members * _ENTRY:
        raise LimitReached(part.place, _too_many(part))
    return min(size, start + at + _END_SIZE + (comment & 0xFFFF))


def _too_many(part: UnpackedFile) -> str:
    return f"It has more than {part.budget.limits.members} members: pack it in smaller archives."


def _names(member: "ZipInfo") -> Iterator[bytes]:
    """Yield the name as it is read and as it is stored, the extra fields and the comment."""
    name = member.orig_filename
    yield name.encode(errors="replace")
    if not member.flag_bits & _UTF8:
        stored = name.encode("cp437", errors="replace")
        if not stored.isascii():
            yield stored
            yield stored.decode("cp1252", errors="replace").encode()
    yield member.extra
    yield member.comment


def _member(part: UnpackedFile, archive: "ZipFile", member: "ZipInfo") -> Views:
    label = member.filename
    if member.flag_bits & _ENCRYPTED:
        yield NotRead(part.at(label), ENCRYPTED)
    elif member.compress_type not in _METHODS:
        yield NotRead(part.at(label), _METHOD)
    else:
        yield from part.unpacked(label, label, _content(archive, member), member.compress_size)


def _content(archive: "ZipFile", member: "ZipInfo") -> Iterator[bytes]:
    from lzma import LZMAError  # noqa: PLC0415  the same
    from zipfile import BadZipFile  # noqa: PLC0415  the same

    with breaking(BadZipFile, LZMAError, *_ERRORS), archive.open(member) as content:
        while piece := content.read(WINDOW):
            yield piece


def _gaps(part: UnpackedFile, members: "list[ZipInfo]", directory: int) -> Iterator[tuple[int, int]]:
    """Yield what is before, between and after the members: a program that unpacks itself, or a hidden file."""
    end = 0
    for member in sorted(members, key=lambda one: one.header_offset):
        if member.header_offset - end > _DESCRIPTOR:
            yield end, member.header_offset
        _ = part.content.seek(member.header_offset)
        header = part.content.read(_LOCAL.size)
        if len(header) == _LOCAL.size:
            _mark, _rest, name, extra = _LOCAL.unpack(header)
            end = max(end, member.header_offset + _LOCAL.size + name + extra + member.compress_size)
    if directory - end > _DESCRIPTOR:
        yield end, directory
