"""What stands in a text in another form, such as Base64: one table, which is tried alike at every size."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from orrery.scanner.regex import Regex, compiled
from orrery.scanner.unpack import base64_blocks, escapes, hex_blocks
from orrery.scanner.unpack.encodings import is_text, is_utf8, stretches, wide
from orrery.scanner.unpack.inflating import inflated, is_packed
from orrery.scanner.unpack.kinds import begins_as_file
from orrery.scanner.unpack.view import OVERLAP

DEPTH: Final = 4
"""How often escapes are undone within escapes; `Limits.depth` counts what is decoded, as files inside."""

JUDGED: Final = 8
"""Octets from which on what is decoded is taken for a text: fewer come about in what is none."""

FILE: Final = 40
"""Octets from which on what begins as a file does is one: no archive or picture with a text in it is shorter."""

LOOKED_AT: Final = 150
"""Octets from which on what is decoded is looked at as a file, too: it may be one that cannot be read."""

_LEAST: Final = 5
"""Octets of the shortest stream: three letters."""

_APART: Final = b"\n\n"
_BLANK: Final = re.compile(rb"[\s\\rn]*")
_SMALL: Final = 4096
_TEXT: Final = (
    rb"(?:[\t\n\r -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){8,}"
    rb"|(?:[\xc2-\xdf][\x80-\xbf]){4,}|(?:[\xe0-\xef][\x80-\xbf]{2}){3,}"
)
_HEAD: Final = rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|PK\x03\x04|\x89PNG|%PDF-|BZh[1-9]1AY|\xfd7zXZ\x00"
_TEXTS: Final = (re.compile(_TEXT), compiled(_TEXT))
_HEADS: Final = (re.compile(_HEAD), compiled(_HEAD))
"""Each in the form that is faster for a few octets, and in the one that is faster for many."""

_STREAMS: Final = (b"\x1f", b"\x78")


class Decoder(NamedTuple):
    """One form. `find` yields where a text may have it, and `decode` what a run of it may say, at each alignment.

    `shortest` is in characters. A run that is longer than a window is decoded by `stream`, from each place that
    `heads` yields. Of runs without it, only what is a packed stream from its first octet on counts.
    """

    name: str
    shortest: int
    find: Callable[[bytes], Iterator[tuple[int, int]]]
    decode: Callable[[bytes], Iterator[bytes]]
    stream: Callable[[Iterable[bytes]], Iterator[bytes]] | None = None
    heads: Callable[[bytes], Iterable[int]] = lambda run: (0,) if run else ()


TABLE: Final = (
    Decoder(
        "Base64",
        base64_blocks.SHORTEST,
        base64_blocks.find,
        base64_blocks.variants,
        base64_blocks.stream,
        base64_blocks.heads,
    ),
    Decoder("Base64", base64_blocks.SHORTEST_DEFLATED, base64_blocks.find_deflated, base64_blocks.streams),
    Decoder("hex", hex_blocks.SHORTEST, hex_blocks.find, hex_blocks.variants, hex_blocks.stream),
    Decoder("hex", hex_blocks.SHORTEST_DEFLATED, hex_blocks.find_deflated, hex_blocks.variants),
)
ESCAPES: Final = Decoder("escapes", escapes.SHORTEST, escapes.find, escapes.undone, iter)
"""What the search reads by itself: only other forms in it are of interest here, and what is no text."""

SHORTEST: Final = base64_blocks.SHORTEST_DEFLATED
"""Characters of a text in which anything may stand in another form that is judged here."""


class Decoded(NamedTuple):
    """What stands at a place of a text in another form; what is `packed` is a deflate stream.

    Without a name it is what is readable in blocks that are no text as a whole.
    """

    place: int
    name: str
    content: bytes
    packed: bool = False


@dataclass(slots=True)
class Decoders:
    """Tries the table on a text that is read window by window.

    `long` are the places of what no window holds whole. `_streamed` says that a run which goes on in the next
    window is one of them, and is a file from its first octet on.
    """

    long: list[tuple[Decoder, int]] = field(default_factory=list[tuple[Decoder, int]])
    _streamed: bool = False

    def files(self, text: bytes, start: int, before: int, *, last: bool) -> list[Decoded]:
        """Return what is in a window that begins at `start`; `before` bytes of it were in the one before."""
        strings = list[bytes]()
        found = [one for decoder in TABLE for one in self._of(decoder, text, start, before, strings, last=last)]
        found += _escaped(text, strings)
        if strings:
            found.append(Decoded(0, "", b"\n".join(strings)))
        return sorted(found, key=lambda one: one.place)

    def _of(
        self, decoder: Decoder, text: bytes, start: int, before: int, strings: list[bytes], *, last: bool
    ) -> Iterator[Decoded]:
        for begin, end in decoder.find(text):
            is_cut = not last and bool(_BLANK.fullmatch(text, end))
            goes_on = bool(before) and not begin
            if (before and end <= before and not _BLANK.fullmatch(text, end, before)) or (
                is_cut and begin > len(text) - OVERLAP
            ):
                continue  # the window before had it, or the next one has it
            if decoder.stream and goes_on and self._streamed:
                self._streamed = is_cut
                continue
            run = text[begin:end]
            is_whole = not is_cut and not goes_on
            if decoder.stream and is_cut and not goes_on:
                content = next(decoder.decode(run))
                self._streamed = is_readable(content) or begins_as_file(content)
                self.long += [(decoder, start + begin + head) for head in decoder.heads(run[:OVERLAP])]
                if self._streamed:
                    continue
            yield from _judged(decoder, run, begin, strings, is_whole=is_whole)


def stream(decoder: Decoder, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a long run says that the pieces begin with."""
    octets = decoder.stream(pieces) if decoder.stream else iter(())
    first = next(octets, b"")
    whole = chain([first], octets)
    return inflated(whole) if is_packed(first, is_readable) else whole


def _escaped(text: bytes, strings: list[bytes], depth: int = 0) -> Iterator[Decoded]:
    """Yield what is in another form once the escapes in it are undone."""
    texts, places, ends = list[bytes](), list[int](), [0]
    for begin, end in ESCAPES.find(text):
        content = next(ESCAPES.decode(text[begin:end]))
        if len(content) < _LEAST:
            continue
        if not is_text(content):
            yield from _judged(ESCAPES, text[begin:end], begin, strings, is_whole=True)
        else:
            texts.append(content)
            places.append(begin)
            ends.append(ends[-1] + len(content) + len(_APART))
    joined = _APART.join(texts)
    for one in _once_more(joined, strings, depth + 1) if joined and depth < DEPTH else ():
        yield one._replace(place=places[bisect_right(ends, one.place, 0, len(places)) - 1])


def _once_more(text: bytes, strings: list[bytes], depth: int) -> Iterator[Decoded]:
    for decoder in TABLE:
        for begin, end in decoder.find(text):
            yield from _judged(decoder, text[begin:end], begin, strings, is_whole=True)
    yield from _escaped(text, strings, depth)


def _judged(
    decoder: Decoder, run: bytes, place: int, strings: list[bytes], *, is_whole: bool
) -> Iterator[Decoded]:
    """Yield a text, a file or a packed stream that a run is; else what is readable in it at each alignment."""
    if len(run) < decoder.shortest:
        return
    for number, content in enumerate(decoder.decode(run)):
        if is_packed(content, is_readable):
            yield Decoded(place, decoder.name, content, packed=True)
            return
        if not decoder.stream:
            continue
        if is_whole and not number and is_readable(content):
            yield Decoded(place, decoder.name, _as_utf8(content))
            return
        if is_whole and len(content) >= FILE and begins_as_file(content):
            yield Decoded(place, decoder.name, content)
            return
        yield from _parts(decoder, content, place, strings, is_file=is_whole and not number)


def _parts(
    decoder: Decoder, content: bytes, place: int, strings: list[bytes], *, is_file: bool
) -> Iterator[Decoded]:
    for start, _ in _places(_HEADS, content):
        if content.startswith(_STREAMS, start):
            if is_packed(content[start : start + _SMALL], is_readable):
                yield Decoded(place, decoder.name, content[start:], packed=True)
        elif len(content) - start >= FILE:
            yield Decoded(place, decoder.name, content[start:])
    if is_file and len(content) >= LOOKED_AT:
        yield Decoded(place, decoder.name, content)
        return
    strings += [content[start:end] for start, end in _places(_TEXTS, content)]
    if b"\0" in content:
        strings += stretches(content)


def _places(pattern: tuple[re.Pattern[bytes], Regex], content: bytes) -> Iterator[tuple[int, int]]:
    found = pattern[0].finditer(content) if len(content) < _SMALL else pattern[1].finditer(content)
    return (one.span() for one in found)


def is_readable(content: bytes) -> bool:
    """Return whether decoded octets are a text: those of a word that only looked like Base64 are not."""
    return len(content) >= JUDGED and bool(_as_utf8(content))


def _as_utf8(content: bytes) -> bytes:
    """Return a text as UTF-8, which may be one in UTF-16 or UTF-32; nothing for what is no text."""
    if is_text(content) and is_utf8(content):
        return content
    encoding = wide(content) if b"\0" in content else ""
    text = content.decode(encoding, "replace") if encoding else ""
    return text.encode(errors="replace") if text.replace("\r", "").replace("\n", "").isprintable() else b""
