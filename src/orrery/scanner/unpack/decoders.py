"""What a text has in another form, such as Base64: one table, which is tried alike at every size."""

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from orrery.scanner.regex import PatternSet, Regex, compiled
from orrery.scanner.unpack import base64_blocks, escapes, hex_blocks
from orrery.scanner.unpack.base64_blocks import JUDGED
from orrery.scanner.unpack.encodings import WIDE, is_text, is_utf8, stretches, wide
from orrery.scanner.unpack.inflating import inflated, is_packed
from orrery.scanner.unpack.kinds import begins_as_file
from orrery.scanner.unpack.view import OVERLAP

DEPTH: Final = 4
"""How often escapes are undone within escapes; `Limits.depth` counts what is decoded, as files inside."""

FILE: Final = 40
"""Octets from which on what begins as a file does is one: no archive or picture with a text in it is shorter."""

LOOKED_AT: Final = 150
"""Octets from which on what is decoded is looked at as a file, too: it may be one that cannot be read."""

_SHORT: Final = FILE * 4 // 3
"""Characters of the shortest block that may be a file."""

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
_READABLE: Final = compiled(_HEAD + b"|" + _TEXT + b"|" + WIDE)
"""Each in the form that is faster for a few octets, and in the one that is faster for many."""

_STREAMS: Final = (b"\x1f", b"\x78")


class Decoder(NamedTuple):
    """One form. `find` yields where a text may have it, and `decode` what a run may encode, at each alignment.

    `find` is also given the `hints` in the text, of all in the table; without its own one it is not called.
    `shortest` is in characters. A run that is longer than a window is decoded by `stream`, from each place that
    `heads` yields. Of runs without it, only what is a packed stream from its first octet on counts.
    """

    name: str
    shortest: int
    find: Callable[[bytes, Container[bytes]], Iterator[tuple[int, int]]]
    decode: Callable[[bytes], Iterator[bytes]]
    hints: tuple[bytes, ...] = ()
    stream: Callable[[Iterable[bytes]], Iterator[bytes]] | None = None
    heads: Callable[[bytes], Iterable[int]] = lambda run: (0,) if run else ()


BASE64: Final = Decoder(
    "Base64",
    base64_blocks.SHORTEST,
    base64_blocks.find,
    base64_blocks.variants,
    stream=base64_blocks.stream,
    heads=base64_blocks.heads,
)
TABLE: Final = (
    BASE64,
    Decoder("Base64", base64_blocks.SHORTEST_DEFLATED, base64_blocks.find_deflated, base64_blocks.streams),
    Decoder(
        "hex", hex_blocks.SHORTEST, hex_blocks.find, hex_blocks.variants, (hex_blocks.HINT,), hex_blocks.stream
    ),
    Decoder(
        "hex", hex_blocks.SHORTEST_DEFLATED, hex_blocks.find_deflated, hex_blocks.variants, (hex_blocks.HINT,)
    ),
)
ESCAPES: Final = Decoder("escapes", escapes.SHORTEST, escapes.find, escapes.undone, (escapes.HINT,), iter)
"""What the search reads by itself: only other forms in it are of interest here, and what is no text."""

_HINTS: Final = (base64_blocks.LONG, base64_blocks.FIXED, hex_blocks.HINT, escapes.HINT)
_HINTED: Final = PatternSet(_HINTS)
"""What is rare: one search finds which of these are in a text, and most texts have none."""

SHORTEST: Final = base64_blocks.SHORTEST_DEFLATED
"""Characters of a text that may have anything in another form that is judged here."""


@dataclass(eq=False, slots=True)
class Run:
    """A run of a form, at a place of a text; `is_whole`: no window cuts it."""

    decoder: Decoder
    place: int
    octets: bytes
    is_whole: bool = True


class Decoded(NamedTuple):
    """What a place of a text has in another form; what is `packed` is a deflate stream.

    Without a name it is what is readable in blocks that are no text as a whole.
    """

    place: int
    name: str
    content: bytes
    packed: bool = False


@dataclass(slots=True)
class Decoders:
    """Tries the table on a text that is read window by window.

    `long` are the places of what no window holds whole. `_streamed`: a run that goes on in the next
    window is one of them, and is a file from its first octet on.
    """

    long: list[tuple[Decoder, int]] = field(default_factory=list[tuple[Decoder, int]])
    _streamed: bool = False

    def files(self, text: bytes, start: int, before: int, *, last: bool) -> list[Decoded]:
        """Return what is in a window that begins at `start`; `before` bytes of it were in the one before."""
        strings = list[bytes]()
        hints = _hints(text)
        runs = [*_runs(text, hints)]
        if before or not last:
            runs = [run for run in runs if self._is_here(run, text, start, before, last=last)]
        found = [*_judged_together(runs, strings), *_escaped(text, hints, strings)]
        if strings:
            found.append(Decoded(0, "", b"\n".join(strings)))
        return sorted(found, key=lambda one: one.place)

    def _is_here(self, run: "Run", text: bytes, start: int, before: int, *, last: bool) -> bool:
        """Return whether a run is judged in this window: not in the one before or the next one, or as a stream."""
        end = run.place + len(run.octets)
        is_cut = not last and bool(_BLANK.fullmatch(text, end))
        goes_on = bool(before) and not run.place
        run.is_whole = not is_cut and not goes_on
        is_elsewhere = (before and end <= before and not _BLANK.fullmatch(text, end, before)) or (
            is_cut and run.place > len(text) - OVERLAP
        )
        if is_elsewhere or run.is_whole or not run.decoder.stream:
            return not is_elsewhere
        if goes_on:
            is_streamed, self._streamed = self._streamed, self._streamed and is_cut
        else:
            content = next(run.decoder.decode(run.octets))
            is_streamed = self._streamed = is_readable(content) or begins_as_file(content)
            heads = run.decoder.heads(run.octets[:OVERLAP])
            self.long += [(run.decoder, start + run.place + head) for head in heads]
        return not is_streamed


def stream(decoder: Decoder, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a long run encodes that the pieces begin with."""
    octets = decoder.stream(pieces) if decoder.stream else iter(())
    first = next(octets, b"")
    whole = chain([first], octets)
    return inflated(whole) if is_packed(first, is_readable) else whole


def _hints(text: bytes) -> set[bytes]:
    return {_HINTS[number] for number in _HINTED(text)}


def _runs(text: bytes, hints: set[bytes]) -> Iterator[Run]:
    for decoder in TABLE:
        if not decoder.hints or not hints.isdisjoint(decoder.hints):
            for start, end in decoder.find(text, hints):
                if end - start >= decoder.shortest:
                    yield Run(decoder, start, text[start:end])


def _judged_together(runs: Sequence[Run], strings: list[bytes]) -> Iterator[Decoded]:
    """Yield what runs encode. Blocks that are no files become one text: few of them encode anything."""
    together = [run for run in runs if run.decoder is BASE64 and run.is_whole and not _may_be_file(run)]
    apart = {*runs}.difference(together) | _telling(together, strings)
    for run in runs:
        if run in apart:
            yield from _judged(run, strings)


def _may_be_file(run: Run) -> bool:
    return len(run.octets) >= _SHORT and (run.decoder is not BASE64 or base64_blocks.is_mixed(run.octets))


def _telling(runs: Sequence[Run], strings: list[bytes]) -> set[Run]:
    """Return the blocks that may be a text as a whole, or a packed stream; add to `strings` what others encode."""
    together = base64_blocks.AlignedBlocks([run.octets for run in runs])
    found, parts = set[int](), list[tuple[int, bytes]]()
    for start, octets in together.decoded() if runs else ():
        for one in _READABLE.finditer(octets):
            place, after = one.span()
            number, begin, end = together.block_at(start, place)
            part = octets[place:after]
            if part.startswith(_STREAMS) and _HEADS[0].fullmatch(part):
                is_apart = is_packed(octets[place:end], is_readable)
            else:
                is_apart = not _TEXTS[0].fullmatch(part) or place <= begin <= end <= after
            found.update([number] if is_apart else [])
            parts.append((number, part))
    strings += [part for number, part in parts if number not in found and _TEXTS[0].fullmatch(part)]
    return {runs[number] for number in found}


def _escaped(text: bytes, hints: set[bytes], strings: list[bytes], depth: int = 0) -> Iterator[Decoded]:
    """Yield what is in another form once the escapes in it are undone."""
    texts, places, ends = list[bytes](), list[int](), [0]
    for begin, end in ESCAPES.find(text, hints) if escapes.HINT in hints else ():
        content = next(ESCAPES.decode(text[begin:end]))
        if len(content) < _LEAST:
            continue
        if not is_text(content):
            yield from _judged(Run(ESCAPES, begin, text[begin:end]), strings)
        else:
            texts.append(content)
            places.append(begin)
            ends.append(ends[-1] + len(content) + len(_APART))
    if not texts or depth == DEPTH:
        return
    joined = _APART.join(texts)
    hints = _hints(joined)
    for one in (
        *_judged_together([*_runs(joined, hints)], strings),
        *_escaped(joined, hints, strings, depth + 1),
    ):
        yield one._replace(place=places[bisect_right(ends, one.place, 0, len(places)) - 1])


def _judged(run: Run, strings: list[bytes]) -> Iterator[Decoded]:
    """Yield what a run is as a whole, at the first alignment with something; else what is readable in it."""
    for number, content in enumerate(run.decoder.decode(run.octets)):
        if whole := _whole(run, content, is_first=not number):
            yield whole
            break
        if run.decoder.stream:
            is_file = run.is_whole and not number and _may_be_file(run)
            yield from _parts(run.decoder, content, run.place, strings, is_file=is_file)


def _whole(run: Run, content: bytes, *, is_first: bool) -> Decoded | None:
    """Return the packed stream, the text or the file that a run is, if it is one."""
    if is_packed(content, is_readable):
        return Decoded(run.place, run.decoder.name, content, packed=True)
    if not run.decoder.stream or not run.is_whole:
        return None
    if is_first and is_readable(content):
        return Decoded(run.place, run.decoder.name, _as_utf8(content))
    if len(content) >= FILE and begins_as_file(content):
        return Decoded(run.place, run.decoder.name, content)
    return None


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
