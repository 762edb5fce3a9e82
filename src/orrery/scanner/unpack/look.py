"""How a file is read: by what its content is, and as bytes if that fails."""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import BinaryIO, Final, cast

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.encodings import is_text
from orrery.scanner.unpack.kinds import reader_of
from orrery.scanner.unpack.limits import DamagedFile, LimitReached, UnpackBudget, UnpackLimits
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.unreadable import misnamed, unreadable
from orrery.scanner.unpack.view import WINDOW, Views

Reader = Callable[[UnpackedFile, bytes], Views]

_ZIP_END: Final = b"PK\x05\x06\x00\x00\x00\x00"
_UNPACKED: Final = ("orrery.scanner.unpack.zips", "orrery.scanner.unpack.streams", "orrery.scanner.unpack.tars")
_ZIP_END_SIZE: Final = 22
"""What a zip after a PDF ends with; one before that is an attachment, which is read as one."""

_ZIP_TAIL: Final = 66 * 1024


def views(name: str, content: BinaryIO, limits: UnpackLimits | None = None) -> Views:
    """Yield every text in a file, and what could not be read, whose place is the part."""
    try:
        yield from look(UnpackedFile("", name, content, UnpackBudget(limits or UnpackLimits()), look))
    except LimitReached as reached:
        yield NotRead(reached.place, str(reached))


def look(part: UnpackedFile) -> Views:
    """Yield every text in a file, and what could not be read."""
    try:
        first = part.content.read(WINDOW)
        yield from _look(part, first)
    except OSError:
        yield NotRead(part.place, "It could not be read from the disk to its end: read it again.")


def _look(part: UnpackedFile, first: bytes) -> Views:
    reader = reader_of(first, part.name)
    why = ""
    try:
        if reader:
            yield from _resolved(reader)(part, first)
    except DamagedFile as broken:
        why = str(broken)
    if why or not reader:
        yield from texts(part, first)
    is_plain = is_text(first)
    if not is_plain and not reader.startswith(_UNPACKED):
        yield from _appended_zip(part, _ZIP_END_SIZE if "pdf:read" in reader else _ZIP_TAIL)
    why = why or unreadable(part, first, is_plain=is_plain) or ("" if reader else misnamed(part.name, first))
    if why:
        yield NotRead(part.place, why)


def _resolved(reader: str) -> Reader:
    return cast("Reader", resolve_name(reader))


def _appended_zip(part: UnpackedFile, size: int) -> Views:
    """Yield the texts of a zip that ends within the last bytes of another file."""
    if _ZIP_END not in b"".join(part.pieces(max(0, part.size - size))):
        return
    try:
        yield from _resolved("orrery.scanner.unpack.zips:read")(part, b"")
    except DamagedFile:
        yield NotRead(part.place, "It seems to hold a zip archive that is damaged: take that out of it.")
