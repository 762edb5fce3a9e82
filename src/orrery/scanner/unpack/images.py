"""Pictures: what is beside their pixels."""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.inflating import inflated
from orrery.scanner.unpack.limits import MB
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import WINDOW, Views

_LARGEST: Final = 64 * MB
"""Bytes of a JPEG or GIF that is read whole; a larger one is searched as any binary file."""

_PNG_HEADER: Final = 8
_PIXELS: Final = frozenset({b"IDAT", b"fdAT"})
_COMPRESSED: Final = frozenset({b"zTXt", b"iTXt", b"iCCP"})
_FIELDS: Final = _COMPRESSED | {b"tEXt", b"sPLT"}
_KEYWORDS: Final = 4096
_LONGEST_PROFILE: Final = 16 * MB
_PROFILE: Final = "It holds a profile of more than 8 MB: save the picture without it, or leave it out."
_CHUNK: Final = 12
_EXTENDED: Final = b"http://ns.adobe.com/xmp/extension/\0"
_EXTENDED_HEADER: Final = len(_EXTENDED) + 32 + 4 + 4
_MARK: Final = 0xFF
_END_OF_IMAGE: Final = 0xD9
_SCAN: Final = 0xDA
_ALONE: Final = frozenset({0x01, _MARK, *range(0xD0, 0xD9)})
_NEXT: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def read_png(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of the chunks of a PNG, compressed ones too, and of what follows."""
    del first
    chunks = list(_chunks(part))
    end = _PNG_HEADER
    for kind, start, size in chunks:
        end = start + size + 4
        if kind in _COMPRESSED:
            yield from _png_text(part, kind, start, start + size)
    yield from _beside(part, (_content(part, *one) for one in chunks if one[0] not in _PIXELS))
    if end < part.size:
        yield from part.rest(end)


def _content(part: UnpackedFile, kind: bytes, start: int, size: int) -> Iterator[bytes]:
    """Yield what is in a chunk, a line for each field: letters of its kind and of its checksum are no text."""
    fields = kind in _FIELDS
    yield from (piece.replace(b"\0", b"\n") if fields else piece for piece in part.slice(start, start + size))


def _chunks(part: UnpackedFile) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, place and size of each chunk that is whole."""
    place, size = _PNG_HEADER, part.size
    kind = b""
    while kind != b"IEND" and place + _CHUNK <= size:
        _ = part.content.seek(place)
        header = part.content.read(8)
        length, kind = int.from_bytes(header[:4], "big"), header[4:]
        if not kind.isalpha() or place + _CHUNK + length > size:
            return
        yield kind, place + 8, length
        place += _CHUNK + length


def _png_text(part: UnpackedFile, kind: bytes, start: int, end: int) -> Views:
    keyword, _mark, rest = b"".join(part.slice(start, min(end, start + _KEYWORDS))).partition(b"\0")
    if kind == b"iTXt":
        if not rest.startswith(b"\x01"):
            return
        rest = rest[2:].partition(b"\0")[2].partition(b"\0")[2]  # the language, the translated keyword
    else:
        rest = rest[1:]
    packed = min(end, start + _KEYWORDS) - len(rest)
    label = f"({kind.decode()})"
    with part.budget.unpacked(part.at(label), inflated(part.slice(packed, end), zlib.MAX_WBITS), end - packed) as (
        content,
        why,
    ):
        yield from part.inside(label, "", content)
        if keyword.startswith(b"Raw profile type"):
            _ = content.seek(0)
            yield from part.known(label, "", _hexadecimal(content.read(_LONGEST_PROFILE)))
            if content.read(1):
                yield NotRead(part.at(label), _PROFILE)
        if why:
            yield NotRead(part.at(label), why)


def _hexadecimal(text: bytes) -> bytes:
    """Return the profile that ImageMagick writes below its name and its length."""
    digits = b"".join(text.split()[2:])
    try:
        return bytes.fromhex(digits.decode("ascii"))
    except ValueError:
        return b""


def read_jpeg(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of the segments of a JPEG, and of what follows the picture."""
    if part.size > _LARGEST:
        yield from texts(part, first)
        return
    data = b"".join(part.pieces())
    segments: list[bytes] = []
    end = _segments(data, segments)
    if not any(segments):  # it is cut: what is there of it is searched as it is
        yield from texts(part, first)
        return
    extended = [segment for segment in segments if segment.startswith(_EXTENDED)]
    yield from _beside(part, ([one] for one in segments))
    if extended:
        order = sorted(
            extended, key=lambda one: one[len(_EXTENDED) : _EXTENDED_HEADER][:32] + one[_EXTENDED_HEADER - 4 :][:4]
        )
        yield from part.known("(extended XMP)", "", b"".join(one[_EXTENDED_HEADER:] for one in order))
    if end < len(data):
        yield from part.rest(end)


def _segments(data: bytes, segments: list[bytes]) -> int:
    """Collect what is no picture, and return where the picture ends."""
    place = 2
    while place + 4 <= len(data) and data[place] == _MARK:
        marker = data[place + 1]
        if marker == _END_OF_IMAGE:
            return place + 2
        if marker in _ALONE:
            place += 2 if marker != _MARK else 1
            continue
        end = place + 2 + int.from_bytes(data[place + 2 : place + 4], "big")
        segments.append(data[place + 4 : end])
        place = end
        if marker == _SCAN:
            found = _NEXT.search(data, end)
            place = found.start() if found else len(data)
    return min(place + 2, len(data)) if data[place : place + 2] == b"\xff\xd9" else min(place, len(data))


def read_gif(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a GIF: its bytes, and its comments, which are stored in pieces of 255 bytes."""
    yield from texts(part, first)
    if part.size > _LARGEST:
        return
    data = b"".join(part.pieces())
    comments: list[bytes] = []
    end = _gif_blocks(data, comments)
    if comments:
        yield from part.text("(comment)", *comments)
    if end < len(data):
        yield from part.rest(end)


def _gif_blocks(data: bytes, comments: list[bytes]) -> int:
    """Collect the extensions, and return where the picture ends."""
    place = 13 + _colors(data[10:11])
    while place + 2 < len(data):
        kind = data[place : place + 1]
        if kind == b"!":
            place, text = _sub_blocks(data, place + 2)
            comments.append(text)
        elif kind == b",":
            place, _pixels = _sub_blocks(data, place + 11 + _colors(data[place + 9 : place + 10]))
        else:
            return place + 1 if kind == b";" else len(data)
    return len(data)


def _colors(flags: bytes) -> int:
    return 3 << (flags[0] & 7) + 1 if flags and flags[0] & 0x80 else 0


def _sub_blocks(data: bytes, place: int) -> tuple[int, bytes]:
    text: list[bytes] = []
    while place < len(data) and (size := data[place]):
        text.append(data[place + 1 : place + 1 + size])
        place += 1 + size
    return place + 1, b"".join(text)


def _beside(part: UnpackedFile, contents: Iterable[Iterable[bytes]]) -> Views:
    """Yield the texts of a picture one after another, and apart from each other for a reader."""
    pieces = (piece for content in contents for piece in chain(content, [b"\n"]))
    with part.budget.unpacked(part.place, pieces, part.size) as (content, _why):
        first = content.read(WINDOW)
        yield from texts(replace(part, content=content), first)
