"""Deflate streams in what was decoded: with the header of gzip or zlib, or raw as drawings have them."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from orrery.scanner.unpack.encodings import is_text, is_utf8
from orrery.scanner.unpack.limits import BROKEN, DamagedFile, breaking

_PIECE: Final = 256 * 1024
_TRIED: Final = 4096
_CERTAIN: Final = 64
"""Octets that no header inflates to by chance, and of text that no raw stream does."""

_ONE_FIXED: Final = 3
_OTHERS: Final = {2, 3, 4, 5}
_LONG: Final = 36
_LEAST: Final = 3
"""Octets of the shortest term."""


def is_packed(content: bytes, is_readable: Callable[[bytes], bool]) -> bool:
    """Return whether octets begin with a deflate stream: what comes of chance ends in an error, or is no text."""
    bits = _window(content)
    if bits < 0 and not _may_be_raw(content):
        return False
    stream = zlib.decompressobj(bits)
    try:
        found = stream.decompress(content[:_TRIED], _TRIED)
    except zlib.error:
        return False
    if bits > 0:
        return bool(found) and (stream.eof or len(found) >= _CERTAIN or is_readable(found))
    if not stream.eof:
        return len(found) >= _CERTAIN and is_readable(found)
    return (is_readable(found) and len(found) >= len(stream.unused_data)) or (
        len(found) >= _LEAST and not stream.unused_data and is_text(found) and is_utf8(found)
    )


def begins_raw(content: bytes) -> bool:
    """Return whether octets may begin a raw stream: those of chance are an error soon."""
    try:
        _ = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, _TRIED)
    except zlib.error:
        return False
    return True


def inflated(pieces: Iterable[bytes], window: int = 0) -> Iterator[bytes]:
    """Yield what is in a deflate stream, as far as it goes.

    With a `window`, as zlib counts it, the kind of the stream is known: one without its end raises `DamagedFile`.
    """
    before = iter(pieces)
    first = next(before, b"")
    stream = zlib.decompressobj(window or _window(first))
    with breaking(zlib.error):
        for piece in chain([first], before):
            yield stream.decompress(piece, _PIECE)
            while stream.unconsumed_tail:
                yield stream.decompress(stream.unconsumed_tail, _PIECE)
    if window and not stream.eof:
        raise DamagedFile(BROKEN)


def _may_be_raw(content: bytes) -> bool:
    """Return whether the first block has fixed codes, after which zeros end the stream, or is long.

    See RFC 1951, 3.2.3. What is stored without a code can be read as it is.
    """
    kind = (content[:1] or b"\0")[0] & 7
    return (kind == _ONE_FIXED and content[-1] <= 1) or (kind in _OTHERS and len(content) >= _LONG)


def _window(content: bytes) -> int:
    if content.startswith(b"\x1f\x8b\x08"):
        return 31
    is_zlib = content[:1] == b"\x78" and int.from_bytes(content[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
