"""Any file as texts: its bytes, and what they are in other encodings, in Base64 and without mark-up."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from orrery.scanner.unpack.decoders import SHORTEST, Decoded, Decoders, stream
from orrery.scanner.unpack.encodings import declared, decoded, in_other_pages, is_utf8, stretches, unquoted, wide
from orrery.scanner.unpack.inflating import inflated
from orrery.scanner.unpack.markup import dialect_of, is_markup, joined, versions
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.view import OVERLAP, View, Views, changed, windows

_FOLDED: Final = re.compile(rb"\s*(?:BEGIN:V|version: 1|dn:)", re.IGNORECASE)
_FOLDED_NAMES: Final = (".ics", ".vcf", ".ldif", ".ldf", ".ifb")
_FOLD: Final = re.compile(rb"\r?\n[ \t]")


def texts(part: UnpackedFile, first: bytes, *, base64: bool = True) -> Views:
    """Yield the texts of a file by its bytes; `first` are its first ones."""
    whole = wide(first)
    is_plain = is_utf8(first)
    other = "cp1252" if is_plain else declared(first) or "cp1252"
    if whole:  # two bytes at the beginning of any file may look like the mark of UTF-16
        yield from windows(part.place, part.pieces())
    yield from _by_window(part, whole, other, base64=base64)
    if not whole and b"\0" in first:
        return
    encoding = whole or ("" if is_plain else other)
    for shown in _shown(part, b"".join(decoded([first], encoding)) if encoding else first):
        yield from windows(part.place, shown(_pieces(part, encoding)), 0)


def _shown(part: UnpackedFile, head: bytes) -> Iterator[Callable[[Iterable[bytes]], Iterator[bytes]]]:
    """Yield how a program shows the text: without tags, with whole lines, or without the escapes of mail."""
    if b"<" in head and is_markup(head, part.name):
        dialect = dialect_of(head, part.name)
        yield partial(joined, dialect=dialect)
        if dialect.tracked:
            yield partial(versions, dialect=dialect)
    if _FOLDED.match(head) or part.name.lower().endswith(_FOLDED_NAMES):
        yield unfolded
        if b"QUOTED-PRINTABLE" in head:
            yield unquoted


def unfolded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a text whose long lines go on after a break and a space, as those of calendars and cards do."""
    return changed(pieces, partial(_FOLD.sub, b""), _end_of_line)


def _end_of_line(held: bytes) -> int:
    """Return where the last line ends, before its break: whether it goes on is in what follows."""
    last = held.rfind(b"\n") - 1
    return last if last > 0 else max(0, len(held) - 1)


def _pieces(part: UnpackedFile, encoding: str) -> Iterable[bytes]:
    return decoded(part.pieces(), encoding) if encoding else part.pieces()


def _by_window(part: UnpackedFile, whole: str, other: str, *, base64: bool) -> Views:
    found = Decoders()
    start = before = 0
    views = windows(part.place, _pieces(part, whole))
    view = next(views, None)
    while view:
        after = next(views, None)
        yield view
        yield from _other_forms(view, other)
        if base64 and len(view.text) >= SHORTEST:
            line, counted = view.line, 0
            for one in found.files(view.text, start, before, last=after is None):
                line, counted = line + view.text.count(b"\n", counted, one.place), one.place
                yield from _inside(part, one, line)
        start += len(view.text) - OVERLAP
        view, before = after, OVERLAP
    for decoder, place in found.long:
        pieces = _from(_pieces(part, whole), place) if whole else part.pieces(place)
        yield from part.unpacked(f"({decoder.name})", "", stream(decoder, pieces), part.size - place)


def _inside(part: UnpackedFile, decoded: Decoded, line: int) -> Views:
    label = f"({decoded.name} in line {line})" if decoded.name else "(encoded)"
    if decoded.packed:
        yield from part.unpacked(label, "", inflated([decoded.content]), len(decoded.content))
    else:
        yield from part.known(label, "", decoded.content)


def _other_forms(view: View, other: str) -> Iterator[View]:
    if b"\0" in view.text:
        yield from windows(view.part, [b"\n".join(stretches(view.text))], 0)
    elif not is_utf8(view.text):
        yield from windows(view.part, decoded([view.text], other), view.line)
        yield from windows(view.part, in_other_pages(view.text), 0)


def _from(pieces: Iterable[bytes], start: int) -> Iterator[bytes]:
    for piece in pieces:
        if start < len(piece):
            yield piece[start:]
        start = max(0, start - len(piece))
