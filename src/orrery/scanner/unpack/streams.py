"""Files that hold one compressed file: gzip, bzip2, xz, lzma and zlib."""

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from orrery.scanner.unpack.limits import BROKEN, MB, DamagedFile, breaking
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import Views

_MEMORY: Final = 128 * MB
"""What xz may take for its dictionary: 64 MB at its strongest."""

_PIECE: Final = 256 * 1024
_SUFFIX: Final = re.compile(r"\.(?:gz|bz2|xz|lzma|z)$", re.IGNORECASE)
_TARRED: Final = re.compile(r"\.(?:tgz|tbz2?|txz|tlz)$", re.IGNORECASE)
_TRIED: Final = 4096

_Decompressor = bz2.BZ2Decompressor | lzma.LZMADecompressor


class _Zlib:
    """A stream of zlib with the same face as the others."""

    def __init__(self, window_bits: int) -> None:
        self._inner = zlib.decompressobj(window_bits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` bytes."""
        found = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = len(found) < max_length and not self._inner.unconsumed_tail
        return found


_KINDS: Final[tuple[tuple[bytes, Callable[[], _Zlib | _Decompressor]], ...]] = (
    (b"\x1f\x8b", lambda: _Zlib(31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(memlimit=_MEMORY)),
    (b"\x5d\x00\x00", lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_MEMORY)),
    (b"\x78", lambda: _Zlib(zlib.MAX_WBITS)),
)


@dataclass(slots=True)
class _Streams:
    """The streams of a file, one after another; `end` is where they end and something else follows."""

    part: UnpackedFile
    begins: bytes
    make: Callable[[], _Zlib | _Decompressor]
    end: int = 0

    def pieces(self) -> Iterator[bytes]:
        """Yield what is in them; raise `DamagedFile` where they are cut or damaged."""
        stream, read = self.make(), 0
        with breaking(zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
            for piece in self.part.pieces():
                read += len(piece)
                rest = piece
                while rest:
                    if stream.eof:
                        rest = rest.lstrip(b"\0")
                        if rest and not rest.startswith(self.begins):
                            self.end = read - len(rest)
                            return
                        stream = self.make() if rest else stream
                    if rest:
                        yield from _expanded(stream, rest)
                        rest = stream.unused_data if stream.eof else b""
        if not stream.eof:
            raise DamagedFile(BROKEN)


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a compressed file, of its header, and of what follows it."""
    begins, make = next(kind for kind in _KINDS if first.startswith(kind[0]))
    if begins == b"\x1f\x8b":
        yield from part.text("(header)", _gzip_header(first))
    streams = _Streams(part, begins, make)
    name = _SUFFIX.sub("", _TARRED.sub(".tar", part.name)).rpartition("/")[2]
    yield from part.unpacked("(content)", name, streams.pieces(), part.size)
    if streams.end:
        yield from part.rest(streams.end)


def read_zlib(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a zlib stream; anything may begin with its two bytes, and is read as it is."""
    try:
        found = zlib.decompressobj().decompress(first, _TRIED)
    except zlib.error:
        found = b""
    yield from read(part, first) if found else texts(part, first)


def _expanded(stream: "_Zlib | _Decompressor", data: bytes) -> Iterator[bytes]:
    yield stream.decompress(data, _PIECE)
    while not stream.eof and not stream.needs_input:
        yield stream.decompress(b"", _PIECE)


def _gzip_header(first: bytes) -> bytes:
    """Return the name, the comment and the extra field."""
    flags = int.from_bytes(first[3:4], "little")
    end = 10 + (2 + int.from_bytes(first[10:12], "little") if flags & 4 else 0)
    for flag in (8, 16):
        if flags & flag:
            end = first.find(b"\0", end) + 1 or len(first)
    return first[10:end]
