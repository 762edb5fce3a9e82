"""Mail: single messages, mailboxes of many, and pages that were saved as mail."""

import re
from binascii import a2b_qp
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from orrery.scanner.unpack.base64_blocks import decode
from orrery.scanner.unpack.encodings import decoded, known, unquoted
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import Views, changed

_LONGEST_HEADERS: Final = 1024 * 1024
_LONGEST_LINE: Final = 64 * 1024
_BLANK: Final = frozenset({b"\n", b"\r\n", b"\r"})
_FROM: Final = re.compile(rb"From \S+ .*[0-9]{4}")
_PADDING: Final = re.compile(rb"=+")
_ENDINGS: Final = {"text/html": ".html", "text/calendar": ".ics", "text/vcard": ".vcf", "message/rfc822": ".eml"}
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
_WORDS: Final = re.compile(rb"=\?[^?\s]{1,60}\?[bBqQ]\?[^?]*\?=(?:\s*=\?[^?\s]{1,60}\?[bBqQ]\?[^?]*\?=)*")
_WORD: Final = re.compile(rb"=\?([^?*\s]{1,60})(?:\*[^?]*)?\?([bBqQ])\?([^?]*)\?=")
_CONTINUED: Final = re.compile(rb"""["']?;\s*[A-Za-z-]{1,40}\*[1-9][0-9]{0,3}\*?=["']?""")
_TYPE: Final = re.compile(rb"^content-type:\s*([^\s;]{1,100})", re.IGNORECASE | re.MULTILINE)
_ENCODING: Final = re.compile(rb"^content-transfer-encoding:\s*([^\s;]{1,40})", re.IGNORECASE | re.MULTILINE)
_BOUNDARY: Final = re.compile(rb"""boundary(?:\*0?\*?)?=(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))""", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"""charset\*?=["']?([A-Za-z0-9_.:+-]{1,40})""", re.IGNORECASE)
_NAME: Final = re.compile(rb"""name(?:\*0?\*?)?=(?:"([^"\r\n]{1,500})"|([^\s;"]{1,500}))""", re.IGNORECASE)


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of mail as it is, of its headers, and of every part as it is shown."""
    yield from texts(part, first, base64=False)
    for number, body in enumerate(_Messages(mailbox=first.startswith(b"From ")).bodies(_lines(part.pieces())), 1):
        headers = body.headers
        yield from part.text("(headers)", headers.text)
        if body.end > body.start:
            name = headers.name or f"part{_ENDINGS.get(headers.type, '')}"
            label = headers.name or f"(part {number})"
            yield from part.unpacked(label, name, _content(part, body), body.end - body.start)


class Headers(NamedTuple):
    """The headers of a message, or of a part of one; `text` are all of them."""

    text: bytes
    type: str
    encoding: str
    boundary: bytes
    charset: str
    name: str


class _Body(NamedTuple):
    """A part that has no parts: its headers, and from where to where its body goes."""

    headers: Headers
    start: int
    end: int


class _Messages:
    """Knows line by line in which part it is."""

    def __init__(self, *, mailbox: bool) -> None:
        self._mailbox = mailbox
        self._boundaries: list[bytes] = []
        self._in_headers = True
        self._raw: list[bytes] = []
        self._size = 0
        self._open: tuple[Headers, int] | None = None

    def bodies(self, lines: Iterable[bytes]) -> Iterator[_Body]:
        """Yield every part; where only the headers count, the body is empty."""
        place, blank = 0, False
        for line in lines:
            start, place = place, place + len(line)
            if self._mailbox and blank and _FROM.match(line):
                yield from self._closed(start)
                self._boundaries, self._in_headers = [], True
            elif line.startswith(b"--") and (found := self._boundary(line[2:].rstrip())):
                yield from self._closed(start)
                at, self._in_headers = found
                del self._boundaries[at:]
            elif self._in_headers:
                yield from self._header(line, place)
            blank = line in _BLANK
        yield from self._closed(place)

    def _boundary(self, mark: bytes) -> tuple[int, bool] | None:
        """Return how many boundaries stay, and whether a part follows; nothing when a line is none of them."""
        for at in range(len(self._boundaries) - 1, -1, -1):
            if mark == self._boundaries[at]:
                return at + 1, True
            if mark == self._boundaries[at] + b"--":
                return at, False
        return None

    def _header(self, line: bytes, place: int) -> Iterator[_Body]:
        self._size += len(line)
        if line not in _BLANK and self._size < _LONGEST_HEADERS:
            self._raw.append(line)
            return
        headers = parsed(b"".join(self._raw))
        self._raw, self._size = [], 0
        multipart = headers.type.startswith("multipart/") and headers.boundary
        if multipart:
            self._boundaries.append(headers.boundary)
        self._in_headers = False
        if multipart:
            yield _Body(headers, place, place)
        else:
            self._open = headers, place

    def _closed(self, end: int) -> Iterator[_Body]:
        if self._open:
            yield _Body(*self._open, end)
        elif self._in_headers and self._raw:
            yield _Body(parsed(b"".join(self._raw)), end, end)
        self._open, self._raw, self._size = None, [], 0


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        lines = (held + piece).splitlines(keepends=True)
        held = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if len(held) > _LONGEST_LINE:
            lines.append(held)
            held = b""
        yield from lines
    if held:
        yield held


def _content(part: UnpackedFile, body: _Body) -> Iterable[bytes]:
    pieces = part.slice(body.start, body.end)
    if body.headers.encoding == "base64":
        pieces = _base64(pieces)
    elif body.headers.encoding == "quoted-printable":
        pieces = unquoted(pieces)
    if body.headers.charset and body.headers.type.startswith("text/"):
        return decoded(pieces, body.headers.charset)
    return pieces


def _base64(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a body encodes; after its padding another may follow."""
    letters = (bytes(piece).translate(None, b" \t\r\n") for piece in pieces)
    return changed(letters, lambda text: b"".join(map(decode, _PADDING.split(text))), _whole_groups)


def _whole_groups(held: bytes) -> int:
    padded = held.rfind(b"=") + 1
    return padded + (len(held) - padded & ~3)


def parsed(raw: bytes) -> Headers:
    """Return the meaning of headers."""
    text = decoded_words(_CONTINUED.sub(b"", _FOLD.sub(b" ", raw)))
    name = next(_groups(_NAME, text), b"").decode(errors="replace")
    return Headers(
        text,
        next(_groups(_TYPE, text), b"text/plain").decode(errors="replace").lower(),
        next(_groups(_ENCODING, text), b"").decode(errors="replace").lower(),
        next(_groups(_BOUNDARY, text), b""),
        known(next(_groups(_CHARSET, text), b"").decode()),
        name.rpartition("/")[2],
    )


def decoded_words(text: bytes) -> bytes:
    """Return a text whose encoded words (RFC 2047) are UTF-8; those side by side are one."""

    def in_utf8(found: re.Match[bytes]) -> bytes:
        return _decoded([(word[1], word[2], word[3]) for word in _WORD.finditer(found[0])])

    return _WORDS.sub(in_utf8, text)


def _decoded(words: list[tuple[bytes, bytes, bytes]]) -> bytes:
    runs: list[tuple[bytes, bytes]] = []
    for charset, way, word in words:
        content = decode(word) or word if way in b"bB" else a2b_qp(word.replace(b"_", b" "))
        if runs and runs[-1][0].lower() == charset.lower():  # a character may be cut in two
            content = runs.pop()[1] + content
        runs.append((charset, content))
    return b"".join(_in_utf8(charset, content) for charset, content in runs)


def _in_utf8(charset: bytes, content: bytes) -> bytes:
    encoding = known(charset.decode(errors="replace"))
    return content.decode(encoding, "replace").encode(errors="replace") if encoding else content


def _groups(pattern: re.Pattern[bytes], text: bytes) -> Iterator[bytes]:
    for found in pattern.finditer(text):
        yield next((group for group in found.groups() if group), b"")
