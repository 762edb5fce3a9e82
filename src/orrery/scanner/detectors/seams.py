"""What a reader sees as one text and a file has in pieces: marks within a word, string literals, hyphens.

A search finds fast where such a seam may be. Only what is near one is read without its seams, so a text without
any costs one pass.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain

from orrery.scanner.detectors.encodings import as_text
from orrery.scanner.findings import BETWEEN
from orrery.scanner.regex import around, compiled

_MARGIN = 128
"""Bytes beside a seam that are read with it."""

_LETTER = r"[0-9A-Za-z\x80-\xff]"
_ENDS, _BEGINS = r"[0-9A-Za-z\x80-\xbf]", r"[0-9A-Za-z\xc2-\xf4]"
"""The octet that ends a letter of UTF-8, and the one that begins it: other texts are searched as UTF-8, too."""

_NO_PREFIX = "[AC-EG-KM-QSV-Zac-eg-km-qsv-z]"
"""A letter that no language writes before a string literal, as Python does in `rb""` and C in `L""`."""

_COMMENT = r"#[^\n\x00]{0,100}\n|//[^\n\x00]{0,100}\n|/\*[^*\x00]{0,100}\*/"
"""At most a line: without a bound, unfinished ones take time that grows with the square of the text."""

_GAP = rf"(?:[\s\\]|{_COMMENT})"
_JOINED = rf"(?:(?:[+.&|<>^~_]{{1,3}}|\.concat\(){_GAP}*)"
_PREFIX = r"(?:[@$A-Za-z]{1,2}|u8)?"
_AT_ONCE = r"(?<=[0-9A-Za-z\x80-\xff .@&-][\"'])[bBfFrRtTuU]{1,2}"
"""The prefix of a literal that follows at once, as Python allows it."""

_NEXT = rf"(?:(?:{_GAP}+{_JOINED}{{0,2}}|{_JOINED}{{1,2}}){_PREFIX}|{_AT_ONCE})?[\"']+"
_LITERALS = (
    rf"\"(?:[\"']*{_NEXT})+",
    rf"'(?:[\"']*{_NEXT})+",
    *(rf"{one}{_GAP}*\+{_GAP}*[\"'`]" for one in "\"'`"),
)
"""The end of a string literal and the next's begin: beside each other, or with an operator that joins them."""

_HYPHENS = ("-", r"\xc2\xad", r"\xe2\x80\x90", r"\xe2\x80\x91", "&shy;", "&#173;", "&#xad;", "&#xAD;")
_ENDS_LINE = rf"[ \t]*\r?\n[ \t>#*/|;%-]*{_LETTER}"
"""The end of a line, and what begins the next one of a comment or a quotation."""

_CONTINUES = rf"\r?\n[ \t]*{_LETTER}"
_MARKS = r"(?:[*~`^][*_~`^]*|_[*_~`^]+)"
"""Emphasis: not one underscore, which is in names of programs, and joins words anyway."""

_POINT = r"[.@-]"
_PAIRED = r"==|\+\+|\|\|"
_BREAK = r"<[bB][rR] ?/?>"
_BESIDE = r"[ .@&*~_)\]-]{0,4}"
_WORD_BEFORE = (rf"{_NO_PREFIX}[A-Za-z]", "[A-Za-z]{3}", _NO_PREFIX, r"[\x80-\xff]")

_SEAM = compiled(
    rf"{_ENDS}{_BESIDE}[\"'](?:[\"'\s\\+.&|<>^~_]|\.concat\()*(?:{_PREFIX}[\"']{_BESIDE}{_BEGINS}|#|//|/\*)"
    rf"|{_ENDS}`\s*\+\s*`|(?:{'|'.join(_WORD_BEFORE)})\"{_BEGINS}|{_ENDS}'{_LETTER}+'|'{_LETTER}+'{_BEGINS}"
    rf"|{_LETTER}(?:{'|'.join(_HYPHENS)})[ \t]*\r?\n|{_ENDS}[\\`]\r?\n"
    rf"|{_ENDS}(?:{_MARKS}{_POINT}?|{_POINT}{_MARKS}){_BEGINS}|\]\(|\]{_BEGINS}|{_BREAK}"
    rf"|{_ENDS}{_POINT}?(?:{_PAIRED})[^\s\x00]|[^\s\x00](?:{_PAIRED}){_POINT}?{_BEGINS}"
)
"""Where a text may go on for a reader although other characters follow.

It has few states, because it asks for one end of a seam; what comes of it is judged afterwards.
"""

_SHORTCUT = compiled(rf"{_LETTER} ?\[{_LETTER}[^\[\]\n\x00]*\]|\](?:\[[^\[\]\n\x00]*\])? ?{_LETTER}")
"""A link that is one only because the text defines where it leads, at its end mostly."""

_ONE_TEXT = re.compile(
    "|".join(
        (
            _BREAK,
            *(f"{hyphen}{_ENDS_LINE[: -len(_LETTER)]}(?={_LETTER})" for hyphen in _HYPHENS),
            *(f"{one}{_CONTINUES[: -len(_LETTER)]}(?={_LETTER})" for one in (r"\\", "`")),
            *_LITERALS,
            *(f"{quote}(?<={word}{quote})(?={_LETTER})" for quote in "\"'" for word in _WORD_BEFORE),
            r"\[\^[^\[\]\n]+\]",
            r"!\[(?=[^\[\]\n]*\])",
            r"\[(?=[^\[\]\n]*\]|!?\[)",
            r"\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)|\[[^\[\]\n]*\]|)",
            *(rf"{mark}[*_~`^]*" for mark in (r"\*", "~", "`", r"\^")),
            rf"_(?:[*_~`^]+|(?!{_LETTER})|(?<!{_LETTER}_))",
            _PAIRED,
        )
    ).encode("latin-1")
)
"""What a reader does not see. Each branch begins with another character, so `re` passes others by at once."""

_FIRST_EDGE = re.compile(rb"[^0-9A-Za-z\x80-\xff@.-]")
_LAST_EDGE = re.compile(rb".*[^0-9A-Za-z\x80-\xff@.-]", re.DOTALL)


class OneText:
    """What is near the seams of a text, without them."""

    def __init__(self, text: bytes) -> None:
        self._whole = text
        self._places: list[tuple[int, int]] = []
        self._sizes = [0]
        self._read: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._read)

    @property
    def size(self) -> int:
        return self._sizes[-1]

    def at(self, place: int) -> int:
        """Return where in the whole text a character is."""
        number = bisect_right(self._sizes, place) - 1
        place -= self._sizes[number]
        for start, end in self._lines(*self._places[number]):
            size = len(as_text(self._whole[start:end]))
            if place < size:
                return start + place
            place -= size
        return self._places[number][1]

    def add(self, start: int, end: int) -> None:
        """Add what is between two places."""
        self._places.append((start, end))
        self._read.append(as_text(_ONE_TEXT.sub(_shown, self._whole[start:end]) + BETWEEN))
        self._sizes.append(self.size + len(self._read[-1]))

    def _lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts between two places that have no seam, a line of each at a time."""
        for found in chain(_ONE_TEXT.finditer(self._whole, start, end), [None]):
            last = found.start() if found else end
            for line in self._whole[start:last].splitlines(keepends=True):
                yield start, start + len(line)
                start += len(line)
            if found:
                yield from [found.span()] if _shown(found) else []
                start = found.end()


def _shown(seam: re.Match[bytes]) -> bytes:
    return b"\n" if seam[0].startswith(b"<") else b""


def one_texts(text: bytes, most: int, *, is_defined: bool) -> Iterator[OneText]:
    """Yield what is near the seams of a text, of about `most` characters each.

    `is_defined`: it defines the target of a link.
    """
    made = OneText(text)
    for start, end in _near(text, most, is_defined=is_defined):
        made.add(start, end)
        if made.size > most:
            yield made
            made = OneText(text)
    if made.size:
        yield made


def _near(text: bytes, most: int, *, is_defined: bool) -> Iterator[tuple[int, int]]:
    """Yield the parts near the seams, without words that were cut at their ends, which others would seem to be."""
    for expression in (_SEAM, _SHORTCUT) if is_defined else (_SEAM,):
        for start, end in around(expression, text, _MARGIN):
            for first in range(start, max(start + 1, end - 2 * _MARGIN), most):
                yield _without_cut_words(text, first, min(end, first + most + 2 * _MARGIN))


def _without_cut_words(text: bytes, start: int, end: int) -> tuple[int, int]:
    first, last = _FIRST_EDGE.search(text, start, end), _LAST_EDGE.match(text, start, end)
    return first.start() if first and start else start, last.end() if last and end < len(text) else end
