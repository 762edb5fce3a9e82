"""The headers of mail: what they say, decoded."""

import re
from binascii import a2b_qp
from collections.abc import Iterator
from typing import Final, NamedTuple

from orrery.scanner.base64_letters import decoded
from orrery.scanner.unpack.encodings import known

_HEAD: Final = 16 * 1024
_FIELD: Final = re.compile(rb"^([!-9;-~]{1,60}):", re.MULTILINE)
_BLANK: Final = re.compile(rb"\r?\n\r?\n")
_MAIL: Final = frozenset({b"from", b"received", b"message-id", b"mime-version", b"return-path", b"delivered-to"})
_FIELDS: Final = _MAIL | {b"to", b"cc", b"subject", b"date", b"content-type", b"reply-to", b"sender"}
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
_WORDS: Final = re.compile(rb"=\?[^?\s]{1,60}\?[bBqQ]\?[^?]*\?=(?:\s*=\?[^?\s]{1,60}\?[bBqQ]\?[^?]*\?=)*")
_WORD: Final = re.compile(rb"=\?([^?*\s]{1,60})(?:\*[^?]*)?\?([bBqQ])\?([^?]*)\?=")
_CONTINUED: Final = re.compile(rb"""["']?;\s*[A-Za-z-]{1,40}\*[1-9][0-9]{0,3}\*?=["']?""")
_TYPE: Final = re.compile(rb"^content-type:\s*([^\s;]{1,100})", re.IGNORECASE | re.MULTILINE)
_ENCODING: Final = re.compile(rb"^content-transfer-encoding:\s*([^\s;]{1,40})", re.IGNORECASE | re.MULTILINE)
_BOUNDARY: Final = re.compile(rb"""boundary(?:\*0?\*?)?=(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))""", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"""charset\*?=["']?([A-Za-z0-9_.:+-]{1,40})""", re.IGNORECASE)
_NAME: Final = re.compile(rb"""name(?:\*0?\*?)?=(?:"([^"\r\n]{1,500})"|([^\s;"]{1,500}))""", re.IGNORECASE)


class Headers(NamedTuple):
    """What the headers of a message, or of a part of one, say; `text` are all of them."""

    text: bytes
    type: str
    encoding: str
    boundary: bytes
    charset: str
    name: str


def begins_as_mail(first: bytes) -> bool:
    """Return whether a text begins with headers, at least one of which only mail has."""
    head = first[:_HEAD]
    end = _BLANK.search(head)
    fields = {field.lower() for field in _FIELD.findall(head[: end.start()] if end else head)}
    return bool(fields & _MAIL) and len(fields & _FIELDS) > 1


def parsed(raw: bytes) -> Headers:
    """Return what headers say."""
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
        said = decoded(word.rstrip(b"=")) or word if way in b"bB" else a2b_qp(word.replace(b"_", b" "))
        if runs and runs[-1][0].lower() == charset.lower():  # a character may be cut in two
            said = runs.pop()[1] + said
        runs.append((charset, said))
    return b"".join(_in_utf8(charset, said) for charset, said in runs)


def _in_utf8(charset: bytes, said: bytes) -> bytes:
    encoding = known(charset.decode(errors="replace"))
    return said.decode(encoding, "replace").encode(errors="replace") if encoding else said


def _groups(pattern: re.Pattern[bytes], text: bytes) -> Iterator[bytes]:
    for found in pattern.finditer(text):
        yield next((group for group in found.groups() if group), b"")
