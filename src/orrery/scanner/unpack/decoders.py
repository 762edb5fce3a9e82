"""What stands in a text in another form, such as Base64: one table, which is tried alike at every size."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from orrery.scanner.unpack import base64_blocks, escapes, hex_blocks
from orrery.scanner.unpack.byte_patterns import finder
from orrery.scanner.unpack.encodings import is_text, is_utf8, stretches, wide
from orrery.scanner.unpack.inflating import inflated, is_packed
from orrery.scanner.unpack.kinds import begins_as_file
from orrery.scanner.unpack.view import OVERLAP

DEPTH: Final = 4
"""How often escapes are undone within escapes; what is decoded is a file inside, and `Limits.depth` counts those."""

JUDGED: Final = 6
"""Octets from which on what is decoded is taken for a text: fewer come about in what is none."""

LOOKED_AT: Final = 150
"""Octets from which on what is decoded is looked at as a file, whatever it is: it may be one that cannot be read."""

_APART: Final = b"\n\n"
_BLANK: Final = re.compile(rb"[\s\\rn]*")
_TEXT: Final = finder(
    rb"(?:[\t\n\r -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){6,}"
)
_HEAD: Final = finder(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|PK\x03\x04|\x89PNG|%PDF-|BZh[1-9]1AY|\xfd7zXZ\x00")


class Decoder(NamedTuple):
    """One form. `find` yields where a text may have it, and `decode` what a run of it may say.

    The first `alignments` of these are searched for stretches of text, and all of them for packed streams.
    `shortest` is in characters. `again` is set where the search reads the form by itself, and only other forms in
    it are of interest; `mark` is then in each run. A run that is longer than a window is decoded by `stream`, from
    each place that `heads` yields.
    """

    name: str
    shortest: int
    find: Callable[[bytes], Iterator[tuple[int, int]]]
    decode: Callable[[bytes], Iterator[bytes]]
    alignments: int = 1
    again: bool = False
    mark: bytes = b""
    stream: Callable[[Iterable[bytes]], Iterator[bytes]] | None = None
    heads: Callable[[bytes], Iterable[int]] = lambda run: (0,) if run else ()


TABLE: Final = (
    Decoder("Base64", base64_blocks.SHORTEST, base64_blocks.find, base64_blocks.variants, 4, stream=base64_blocks.stream, heads=base64_blocks.heads),
    Decoder("hex", hex_blocks.SHORTEST, hex_blocks.find, hex_blocks.variants, 2, stream=hex_blocks.stream),
    Decoder("hex", hex_blocks.SHORTEST, hex_blocks.find_pairs, hex_blocks.variants),
    Decoder("dump", hex_blocks.SHORTEST, hex_blocks.find_dumps, hex_blocks.dumped, 2),
    Decoder("percent", escapes.SHORTEST, escapes.find_percent, escapes.percent, again=True, mark=b"%"),
    Decoder("entities", escapes.SHORTEST, escapes.find_entities, escapes.entities, again=True, mark=b"&"),
    Decoder("escapes", escapes.SHORTEST, escapes.find_escapes, escapes.escapes, again=True, mark=b"\\"),
    Decoder("quoted-printable", escapes.SHORTEST, escapes.find_quoted, escapes.quoted, again=True, mark=b"="),
)
_FORMS: Final = tuple(one for one in TABLE if not one.again)
_ESCAPES: Final = tuple(one for one in TABLE if one.again)


class Decoded(NamedTuple):
    """What stands at a place of a text in another form; what is `packed` is a deflate stream."""

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
        """Return what is in a window, which begins at `start` of the text; `before` bytes were in the one before."""
        found = [one for decoder in _FORMS for one in self._of(decoder, text, start, before, last=last)]
        return sorted([*found, *_escaped(text)], key=lambda one: one.place)

    def _of(self, decoder: Decoder, text: bytes, start: int, before: int, *, last: bool) -> Iterator[Decoded]:
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
            yield from _judged(decoder, run, begin, is_whole=is_whole)


def stream(decoder: Decoder, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a long run says that the pieces begin with."""
    octets = decoder.stream(pieces) if decoder.stream else iter(())
    first = next(octets, b"")
    whole = chain([first], octets)
    return inflated(whole) if is_packed(first, is_readable) else whole


def _escaped(text: bytes, depth: int = 0) -> Iterator[Decoded]:
    """Yield what is in another form once the escapes in it are undone."""
    if depth == DEPTH:
        return
    for decoder in _ESCAPES:
        texts, places, ends = list[bytes](), list[int](), [0]
        for begin, end in decoder.find(text) if decoder.mark in text else ():
            content = next(decoder.decode(text[begin:end]))
            if len(content) < JUDGED:
                continue
            if not is_text(content):
                yield from _judged(decoder, text[begin:end], begin, is_whole=True)
                continue
            texts.append(content)
            places.append(begin)
            ends.append(ends[-1] + len(content) + len(_APART))
        joined = _APART.join(texts)
        for one in _once_more(joined, depth + 1):
            yield one._replace(place=places[bisect_right(ends, one.place, 0, len(places)) - 1])


def _once_more(text: bytes, depth: int) -> Iterator[Decoded]:
    if text:
        for decoder in _FORMS:
            for begin, end in decoder.find(text):
                yield from _judged(decoder, text[begin:end], begin, is_whole=True)
        yield from _escaped(text, depth)


def _judged(decoder: Decoder, run: bytes, place: int, *, is_whole: bool) -> Iterator[Decoded]:
    """Yield a text, a file or a packed stream that a run is; else what is readable in it at each alignment."""
    if len(run) < decoder.shortest:
        return
    for number, content in enumerate(decoder.decode(run)):
        if is_whole and (is_readable(content) or begins_as_file(content)):
            yield Decoded(place, decoder.name, content)
            return
        if is_packed(content, is_readable):
            yield Decoded(place, decoder.name, content, packed=True)
            return
        if number < decoder.alignments:
            yield from _parts(decoder, content, place, is_file=is_whole and not number)


def _parts(decoder: Decoder, content: bytes, place: int, *, is_file: bool) -> Iterator[Decoded]:
    for found in _HEAD(content):
        rest = content[found.span()[0] :]
        if is_packed(rest, is_readable):
            yield Decoded(place, decoder.name, rest, packed=True)
        elif rest[:2] not in {b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"}:
            yield Decoded(place, decoder.name, rest)
    if is_file and len(content) >= LOOKED_AT:
        yield Decoded(place, decoder.name, content)
        return
    strings = [content[slice(*found.span())] for found in _TEXT(content)]
    if b"\0" in content:
        strings += stretches(content)
    if strings:
        yield Decoded(place, decoder.name, b"\n".join(strings))


def is_readable(content: bytes) -> bool:
    """Return whether decoded octets are a text: those of a word that only looked like Base64 are not."""
    if len(content) < JUDGED:
        return False
    if is_text(content) and is_utf8(content):
        return True
    return (
        b"\0" in content and bool(encoding := wide(content)) and content.decode(encoding, "replace").isprintable()
    )
