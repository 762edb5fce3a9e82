"""Base64 in texts: keys, tokens, pictures in pages, certificates, and files in JSON."""

import re
import zlib
from binascii import Error, a2b_base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from orrery.scanner.unpack.byte_patterns import finder
from orrery.scanner.unpack.encodings import is_text, is_utf8, wide
from orrery.scanner.unpack.kinds import begins_as_file
from orrery.scanner.unpack.view import OVERLAP

_SHORTEST: Final = 24
"""Characters of the shortest block: 18 bytes."""

_LONG: Final = 200
"""Characters from which on a block is a file, whatever is in it."""

_ONE: Final = rb"(?:[A-Za-z0-9+/_-]|\\/)"
_BREAK: Final = rb"(?:[ \t]*\r?\n[ \t]*|(?:\\r)?\\n)"
_BLOCK: Final = finder(_ONE + rb"{24,}(?:" + _BREAK + _ONE + rb"+)*={0,2}")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_REST: Final = re.compile(rb"[\s\\rn]*")
_WORDS: Final = re.compile(rb"(?:[A-Z]?[a-z]{2,}+[/_-]*+)++")
"""Words as names of classes and paths have them: of 100,000 short texts in Base64 one looks so."""

_GLUE: Final = re.compile(rb"[/_-]+")
_STRING: Final = re.compile(rb"[ -~]{6,}")
_INFLATED: Final = 1024 * 1024
_ENDS: Final = re.compile(rb"[^A-Za-z0-9+/_\-\\\s]")


@dataclass(slots=True)
class Base64Blocks:
    """The blocks of a text that is read window by window.

    `long` are the places of those that no window holds whole; `strings` stand in blocks that are no text.
    """

    long: list[int] = field(default_factory=list[int])
    strings: list[bytes] = field(default_factory=list[bytes])

    def files(self, text: bytes, start: int, before: int, *, last: bool) -> Iterator[tuple[int, bytes]]:
        """Yield the place and content of the blocks that are files.

        The window begins at `start` of the text, and `before` bytes of it were in the one before.
        """
        for found in _BLOCK(text):
            begin, end = found.span()
            if before and (begin == 0 or (end <= before and not _REST.fullmatch(text, end, before))):
                continue  # the window before had it
            if not last and _REST.fullmatch(text, end):
                if begin <= len(text) - OVERLAP:
                    self.long.append(start + begin)
                continue
            whole = text[begin:end]
            if whole.islower() or whole.isupper() or _WORDS.fullmatch(whole):  # a path, a name, a number
                continue
            for block in _alternatives(whole):
                yield from ((begin, content) for content in self._contents(block))

    def _contents(self, block: bytes) -> Iterator[bytes]:
        content = decode(block)
        if len(block) >= _LONG or is_readable(content) or begins_as_file(content):
            yield content
            return
        if inflated := _inflated(content):
            yield inflated
            return
        self.strings += _STRING.findall(content)
        for word in _GLUE.split(block):  # a path, or the name of a kind of key, stands before it
            if _SHORTEST <= len(word) < len(block) and is_readable(content := decode(word)):
                yield content


def decode(block: bytes) -> bytes:
    """Return what a block of Base64 says, in either alphabet, wrapped, with or without its end."""
    if b"\\" in block:
        block = block.replace(b"\\n", b"").replace(b"\\r", b"")
    block = block.translate(_STANDARD, b" \t\r\n\\=")
    block = block[: len(block) - (len(block) % 4 == 1)]
    try:
        return a2b_base64(block + b"=" * (-len(block) % 4))
    except Error:
        return b""


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


def is_readable(content: bytes) -> bool:
    """Return whether decoded bytes are a text: those of a word that only looked like Base64 are not."""
    if len(content) < _SHORTEST // 2:
        return False
    if is_text(content) and is_utf8(content):
        return True
    return (
        b"\0" in content and bool(encoding := wide(content)) and content.decode(encoding, "replace").isprintable()
    )


def _alternatives(block: bytes) -> Iterator[bytes]:
    """Yield a block, and its lines when each may stand for itself."""
    yield block
    lines = block.split()
    if len(lines) > 1 and any(len(line) % 4 for line in lines[:-1]):
        yield from (line for line in lines if len(line) >= _SHORTEST)


def _inflated(content: bytes) -> bytes:
    """Return what is in a raw deflate stream, as drawings and sign-in requests have them, if it is a text."""
    try:
        found = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, _INFLATED)
    except zlib.error:
        return b""
    return found if is_readable(found) else b""
