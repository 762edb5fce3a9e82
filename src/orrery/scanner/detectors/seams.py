"""What a reader sees as one text and a file has in pieces: marks within a word, string literals, hyphens.

A search says fast where such a seam may be. Only what stands near one is read without its seams, so a text without
any costs one pass.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from orrery.scanner.detectors.encodings import as_text
from orrery.scanner.detectors.fast import around, compiled
from orrery.scanner.findings import BETWEEN

_MARGIN = 128
"""Bytes beside a seam that are read with it."""

_LETTER = r"[0-9A-Za-z\x80-\xff]"
_NO_PREFIX = "[AC-EG-KM-QSV-Zac-eg-km-qsv-z]"
"""A letter that no language writes before a string literal, as Python does in `rb""` and C in `L""`."""

_COMMENT = r"#[^\n\x00]{0,100}\n|//[^\n\x00]{0,100}\n|/\*[^*\x00]{0,100}\*/"
"""At most a line: without a bound, unfinished ones take time that grows with the square of the text."""

_GAP = rf"(?:[\s\\]|{_COMMENT})"
_JOINED = rf"(?:(?:[+.&|<>^~_]{{1,3}}|\.concat\(){_GAP}*)"
_PREFIX = r"(?:[@$A-Za-z]{1,2}|u8)?"
_NEXT = rf"(?:(?:{_GAP}+{_JOINED}{{0,2}}|{_JOINED}{{1,2}}){_PREFIX})?[\"']+"
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
"""Emphasis: not one underscore, which stands in names of programs, and joins words anyway."""

_POINT = r"[.@-]"
_PAIRS = (("=", "=="), ("+", r"\+\+"), ("|", r"\|\|"))
_PAIRED = "|".join(
    rf"{_LETTER}{_POINT}?{mark}[^\s{one}\x00][^{one}\n\x00]*{mark}|{mark}[^{one}\n\x00]*[^\s{one}\x00]{mark}{_POINT}?{_LETTER}"
    for one, mark in _PAIRS
)
_LINK = r"(?:!?\[){1,3}[^\[\]\n\x00]{0,100}\]\("
_LINKS = rf"{_LETTER}[ *_~]{{0,4}}{_LINK}|\]\([^\n\x00]*\)[ *_~`]{{0,4}}(?:!?\[|{_LETTER})|\]{_LETTER}"
_BREAK = r"<[bB][rR] ?/?>"
_BESIDE = r"[ .@&*~_)\]-]{0,4}"
_WORD_BEFORE = (rf"{_NO_PREFIX}[A-Za-z]", "[A-Za-z]{3}", _NO_PREFIX, r"[\x80-\xff]")

_SEAM = compiled(
    rf"{_LETTER}{_BESIDE}(?:{'|'.join(_LITERALS)}){_BESIDE}{_LETTER}"
    rf"|(?:{'|'.join(_WORD_BEFORE)})\"{_LETTER}|{_LETTER}'{_LETTER}+'|'{_LETTER}+'{_LETTER}"
    rf"|{_LETTER}(?:{'|'.join(_HYPHENS)}){_ENDS_LINE}|{_LETTER}[\\`]{_CONTINUES}"
    rf"|{_LETTER}(?:{_MARKS}{_POINT}?|{_POINT}{_MARKS}){_LETTER}|{_PAIRED}|{_LINKS}|{_BREAK}"
)
"""Where a text may go on for a reader although other characters follow: what comes of it is judged afterwards."""

_DEFINED = compiled(r"\n {0,3}\[[^\[\]\n]+\]:[ \t]")
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
            *(mark for _, mark in _PAIRS),
        )
    ).encode("latin-1")
)
"""What a reader does not see. Each branch begins with a letter of its own, which makes it fast."""

_FIRST_EDGE = re.compile(rb"[^0-9A-Za-z\x80-\xff@.-]")
_LAST_EDGE = re.compile(rb".*[^0-9A-Za-z\x80-\xff@.-]", re.DOTALL)


class OneText:
    """What stands near the seams of a text, without them, and where each part of it comes from."""

    def __init__(self) -> None:
        self._read: list[int] = []
        self._raw: list[int] = []
        self._parts: list[str] = []
        self.size = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def at(self, place: int) -> int:
        """Return where in the whole text a character is."""
        number = bisect_right(self._read, place) - 1
        return self._raw[number] + place - self._read[number]

    def add(self, text: bytes, start: int, end: int) -> None:
        """Add what stands between two places."""
        for found in _ONE_TEXT.finditer(text, start, end):
            self._take(text[start : found.start()], start)
            if found[0].startswith(b"<"):
                self._take(b"\n", found.start())
            start = found.end()
        self._take(text[start:end], start)
        self._take(BETWEEN, end)

    def _take(self, piece: bytes, raw: int) -> None:
        for line in [piece] if piece.isascii() else piece.splitlines(keepends=True):
            if line:
                self._read.append(self.size)
                self._raw.append(raw)
                self._parts.append(as_text(line))
                self.size += len(self._parts[-1])
                raw += len(line)


def one_texts(text: bytes, most: int) -> Iterator[OneText]:
    """Yield what stands near the seams of a text, of about `most` characters each."""
    made = OneText()
    for start, end in _near(text, most):
        made.add(text, start, end)
        if made.size > most:
            yield made
            made = OneText()
    if made.size:
        yield made


def _near(text: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Yield the parts near the seams, without words that were cut at their ends, which others would seem to be."""
    defined = b"]: " in text and _DEFINED.search(text) is not None
    for expression in (_SEAM, _SHORTCUT) if defined else (_SEAM,):
        for start, end in around(expression, text, _MARGIN):
            for first in range(start, max(start + 1, end - 2 * _MARGIN), most):
                yield _without_cut_words(text, first, min(end, first + most + 2 * _MARGIN))


def _without_cut_words(text: bytes, start: int, end: int) -> tuple[int, int]:
    first, last = _FIRST_EDGE.search(text, start, end), _LAST_EDGE.match(text, start, end)
    return first.start() if first and start else start, last.end() if last and end < len(text) else end
