"""Mark-up: a text whose words are cut by tags, as office documents and pages have them, becomes whole."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Final, NamedTuple

from orrery.scanner.unpack.view import WINDOW, changed

_HEAD: Final = 4096
_LAST: Final = 8 * 1024
_NAMES: Final = re.compile(
    r"\.(?:html?|xhtml|xml|svg|xaml|plist|drawio|rss|atom|vue|jsx|tsx|md|markdown|resx|xlf|xliff|kml|gpx|mjml|f?od[tsp])$",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<[?!A-Za-z]")
_PAGE: Final = re.compile(rb"<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
_TEXT: Final = re.compile(rb">([^<]+)")


class Dialect(NamedTuple):
    """Which tags end a word, and whether changes of such a document are tracked."""

    begins: re.Pattern[bytes]
    separates: re.Pattern[bytes]
    tracked: bool = False


def _named(names: bytes) -> bytes:
    """Return a pattern for names in lower and in upper case, a branch for each initial.

    It takes a tenth of the time of one that ignores the case and tries each name.
    """
    words = names.split(b"|")
    letters: dict[bytes, list[bytes]] = {}
    for word in sorted({*words, *(word.upper() for word in words if word.islower())}):
        letters.setdefault(word[:1], []).append(word[1:])
    return b"|".join(letter + b"(?:" + b"|".join(rest) + b")" for letter, rest in letters.items())


def _only(names: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"</?(?:%b)(?=[\s/>])[^<>]*>" % names)


def _all_but(names: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"<(?!/?(?:[A-Za-z0-9]{1,20}:)?(?:%b)(?=[\s/>]))[^<>]*>" % _named(names))


_INLINE: Final = (
    b"a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|hi|i|ins|kbd|mark|nobr|q|s|samp|small|span|"
    b"strike|strong|sub|sup|time|tspan|textPath|tt|u|var|wbr|emphasis|phrase|r|t|rPr|ruby|link|g|x|bpt|ept|ph"
)
_SHEET: Final = _all_but(
    b"r|t|rPr|b|i|u|sz|color|rFont|family|scheme|charset|strike|vertAlign|outline|shadow|condense|extend"
)
_DOCUMENT: Final = _only(rb"(?:[A-Za-z0-9]{1,8}:)?(?:p|tc|tr|br|tab|cr|ptab|fldChar|comment|footnote|endnote|sym)")
_OPEN: Final = _only(
    rb"text:(?:p|h|line-break|tab|s|note|note-body|list-item)|table:[a-z-]+|office:(?:annotation|body|text)"
    rb"|dc:[a-z]+|meta:[a-z-]+|svg:(?:title|desc)"
)
_PAGES: Final = _only(
    _named(
        b"address|article|aside|blockquote|body|br|button|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|"
        b"fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hgroup|hr|html|iframe|img|input|"
        b"legend|li|link|main|menu|meta|nav|noscript|object|ol|optgroup|option|p|pre|script|section|select|source|"
        b"style|summary|svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|ul|video|!doctype"
    )
)
_DOCUMENTS: Final = Dialect(
    re.compile(rb"(?:openxmlformats\.org|ooxml)/wordprocessingml"), _DOCUMENT, tracked=True
)
_HTML: Final = Dialect(_PAGE, _PAGES)
_OTHER: Final = Dialect(re.compile(rb""), _all_but(_INLINE))
_DIALECTS: Final = (
    _DOCUMENTS,
    Dialect(re.compile(rb"(?:openxmlformats\.org|ooxml)/presentationml"), _DOCUMENT),
    Dialect(re.compile(rb"(?:openxmlformats\.org|ooxml)/spreadsheetml"), _SHEET),
    Dialect(re.compile(rb"urn:oasis:names:tc:opendocument"), _OPEN),
    _HTML,
)
_HTML_NAMES: Final = (".html", ".htm", ".md", ".markdown", ".vue", ".jsx", ".tsx")
_INSERTED: Final = re.compile(rb"<w:ins\s[^<>]*[^/<>]>.*?</w:ins>", re.DOTALL)
_DELETED: Final = re.compile(rb"<w:delText[^<>]*>[^<]*</w:delText>")


def is_markup(first: bytes, name: str) -> bool:
    """Return whether a text has tags, by its beginning or its name."""
    head = first[:_HEAD]
    return bool(_BEGINS.match(head) or _PAGE.search(head) or _NAMES.search(name))


def dialect_of(first: bytes, name: str) -> Dialect:
    """Return which tags end a word in a text."""
    for one in _DIALECTS:
        if one.begins.search(first[:_HEAD]):
            return one
    return _HTML if name.lower().endswith(_HTML_NAMES) else _OTHER


def joined(pieces: Iterable[bytes], dialect: Dialect) -> Iterator[bytes]:
    """Yield a text without its tags; those that end a word become the end of a line."""
    return changed(pieces, lambda text: without_tags(text, dialect), lambda held: _end(held, dialect))


def versions(pieces: Iterable[bytes], dialect: Dialect) -> Iterator[bytes]:
    """Yield what a document with tracked changes has without its insertions, and without its deletions."""

    def both(text: bytes) -> bytes:
        if b"<w:del" not in text and b"<w:ins" not in text:
            return b""
        old, new = _until(_INSERTED, b"</w:ins>", text), _DELETED.sub(b"", text)
        return b"%b\n%b\n" % (without_tags(old, dialect), without_tags(new, dialect))

    return changed(pieces, both, lambda held: _end(held, dialect))


def without_tags(text: bytes, dialect: Dialect) -> bytes:
    """Return a piece of a text without its tags."""
    text = _until(_COMMENT, b"-->", text)
    text = dialect.separates.sub(b"\n", text)
    text = b"".join(_TEXT.findall(b">" + text))
    return unescape(text.decode(errors="surrogateescape")).encode(errors="ignore") if b"&" in text else text


def _until(pattern: re.Pattern[bytes], end: bytes, text: bytes) -> bytes:
    """Remove what a lazy pattern matches; behind the last end it would search the rest each time."""
    last = text.rfind(end) + len(end)
    return text if last < len(end) else pattern.sub(b"", text[:last]) + text[last:]


def _end(held: bytes, dialect: Dialect) -> int:
    """Return where a word ends, as far as one does so at all; a small piece waits for more."""
    if len(held) < WINDOW // 4:
        return 0
    start = max(0, len(held) - _LAST)
    last = 0
    for found in dialect.separates.finditer(held, start):
        last = found.end()
    return last or held.rfind(b">", start) + 1 or (len(held) if len(held) > WINDOW else 0)
