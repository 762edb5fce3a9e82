"""What a file is, by its content first and its name second."""

import re
from typing import Final, NamedTuple

from orrery.scanner.unpack.encodings import is_text, wide


class _Kind(NamedTuple):
    begins: re.Pattern[bytes]
    reader: str


_KINDS: Final = tuple(
    _Kind(re.compile(pattern, re.DOTALL), f"orrery.scanner.unpack.{reader}")
    for pattern, reader in (
        (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", "zips:read"),
        (rb"\x1f\x8b\x08", "streams:read"),
        (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "streams:read"),
        (rb"\xfd7zXZ\x00", "streams:read"),
        (rb"\x5d\x00\x00[\x00-\xff]{2}(?:\xff{8}|[\x00-\xff]{5}\x00{3})", "streams:read"),
        (rb"\x78[\x01\x5e\x9c\xda]", "streams:read_zlib"),
        (rb"\x89PNG\r\n\x1a\n", "images:read_png"),
        (rb"\xff\xd8\xff", "images:read_jpeg"),
        (rb"GIF8[79]a", "images:read_gif"),
        (rb"SQLite format 3\x00|\x37\x7f\x06[\x82\x83]|\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", "sqlite:read"),
        (rb"\s{0,20}%PDF-", "pdf:read"),
        (rb".{0,1020}%PDF-", "pdf:read_later"),
        (rb"\{\\rtf", "rtf:read"),
        (rb".{257}ustar", "tars:read"),
    )
)
_TEXTS: Final = frozenset({"orrery.scanner.unpack.pdf:read", "orrery.scanner.unpack.rtf:read"})
"""What reads files that may be texts; any other file with nothing but text only begins like an archive."""

_ANY: Final = re.compile(
    b"|".join(kind.begins.pattern for kind in _KINDS if not kind.reader.endswith("zlib")), re.DOTALL
)
_JOURNAL_HEADER: Final = 28
"""Bytes that SQLite writes zeros over when a change is done and the journal stays: `journal_mode=PERSIST`."""

_MAIL: Final = re.compile(rb"(?:From |>?[!-9;-~]{1,60}:[ \t\r\n])")
_HEAD: Final = 16 * 1024
_FIELD: Final = re.compile(rb"^([!-9;-~]{1,60}):", re.MULTILINE)
_HEADERS_END: Final = re.compile(rb"\r?\n\r?\n")
_OF_MAIL: Final = frozenset(
    {b"from", b"received", b"message-id", b"mime-version", b"return-path", b"delivered-to"}
)
_FIELDS: Final = _OF_MAIL | {b"to", b"cc", b"subject", b"date", b"content-type", b"reply-to", b"sender"}
_NOTEBOOK: Final = re.compile(rb"\s*\{\s*\"(?:cells|worksheets|nbformat|nbformat_minor)\"\s*:")
_MAIL_NAMES: Final = (".eml", ".mbox", ".mbx", ".mht", ".mhtml", ".nws")


def reader_of(first: bytes, name: str) -> str:
    """Return the name of what reads a kind of file; nothing for a text, and for what nothing reads."""
    for kind in _KINDS:
        if kind.begins.match(first) and (kind.reader in _TEXTS or not is_text(first)):
            return kind.reader
    if name.lower().endswith("-journal") and first.startswith(bytes(_JOURNAL_HEADER)):
        return "orrery.scanner.unpack.sqlite:read"
    if _is_mail(first, name):
        return "orrery.scanner.unpack.mail:read"
    if name.lower().endswith(".ipynb") or _NOTEBOOK.match(first):
        return "orrery.scanner.unpack.notebooks:read"
    if name.lower().endswith(".tar") and not is_text(first) and not wide(first):
        return "orrery.scanner.unpack.tars:read"
    return ""


def _is_mail(first: bytes, name: str) -> bool:
    if not _MAIL.match(first):
        return False
    return name.lower().endswith(_MAIL_NAMES) or _begins_as_mail(first)


def _begins_as_mail(first: bytes) -> bool:
    """Return whether a text begins with headers, at least one of which only mail has."""
    head = first[:_HEAD]
    end = _HEADERS_END.search(head)
    fields = {field.lower() for field in _FIELD.findall(head[: end.start()] if end else head)}
    return bool(fields & _OF_MAIL) and len(fields & _FIELDS) > 1


def begins_as_file(content: bytes) -> bool:
    """Return whether bytes begin as a file of a known kind does; two bytes of zlib are not enough."""
    return _ANY.match(content) is not None
