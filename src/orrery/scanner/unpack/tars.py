"""Tar archives; those that are compressed come here unpacked."""

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import BROKEN, MB, breaking
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.view import WINDOW, Views

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

_HEADER: Final = 4 * MB
"""Bytes of the longest extended header that is read; the library reads it whole."""

_ERRORS: Final = (OSError, EOFError, ValueError, LookupError, OverflowError, struct.error, RecursionError)


class _BoundedReads:
    """A file that gives no more than a header at once."""

    def __init__(self, content: BinaryIO) -> None:
        self._content = content
        self.tell = content.tell
        self.seek = content.seek

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _HEADER:
            raise OSError
        return self._content.read(size)


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a tar's members, and of their names, owners and extended headers."""
    del first
    from tarfile import SUPPORTED_TYPES, TarError, TarFile  # noqa: PLC0415  a commit without archives starts faster

    _ = part.content.seek(0)
    with breaking(TarError, *_ERRORS):
        archive = TarFile(fileobj=cast("BinaryIO", _BoundedReads(part.content)), errors="surrogateescape")
    while member := _next(archive):
        yield from part.text("(names)", *_names(member))
        if member.isreg() or member.type not in SUPPORTED_TYPES:
            label = _bytes(member.name).decode(errors="replace")
            yield from part.unpacked(label, label, _content(archive, member), part.size)
        archive.members = []  # pyright: ignore[reportAttributeAccessIssue]  it keeps them all, and its types do not say so
    yield from _rest(part, archive.offset)


def _next(archive: "TarFile") -> "TarInfo | None":
    from tarfile import TarError  # noqa: PLC0415  the same

    with breaking(TarError, *_ERRORS):
        return archive.next()


def _names(member: "TarInfo") -> Iterator[bytes]:
    yield from map(_bytes, (member.name, member.linkname, member.uname, member.gname))
    for key, value in member.pax_headers.items():
        yield _bytes(f"{key}={value}")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _content(archive: "TarFile", member: "TarInfo") -> Iterator[bytes]:
    from tarfile import TarError  # noqa: PLC0415  the same

    with breaking(TarError, *_ERRORS):
        content = archive.extractfile(member)
        while content and (piece := content.read(WINDOW)):
            yield piece


def _rest(part: UnpackedFile, end: int) -> Views:
    """Yield what follows the last member: the library ends there without a word when a header is damaged."""
    place = end
    for piece in part.pieces(end):
        if rest := piece.lstrip(b"\0"):
            yield from part.rest(place + len(piece) - len(rest))
            if len(rest) == len(piece) and place == end:
                yield NotRead(part.place, BROKEN)
            return
        place += len(piece)
