"""The parts of a message, found in time that grows with its size alone. Pure.

The library's parser looks at each line once for each level of parts around it, and at each parameter of a header
once for all that follow: a message of two megabytes can keep it busy for a minute.
"""

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from functools import cached_property

from orrery.adapters.imap_mailbox.headers import words_of

DEEPEST = 30
"""Levels of parts; what is deeper is not looked at."""

MOST = 1000
"""Parts of a message; those behind are not looked at."""

_LONGEST_HEAD = 16 * 1024
_EMPTY_LINE = re.compile(rb"\r?\n[ \t]*\r?\n|\A[ \t]*\r?\n")
_SPACE = re.compile(rb"[ \t\r\n]+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
_ENCODINGS = frozenset({"", "7bit", "8bit", "binary", "quoted-printable"})
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


@dataclass(frozen=True)
class MimePart:
    """A part, or the message itself, as it was received."""

    head: bytes
    content: bytes
    depth: int = 0
    is_choice: bool = False
    """Whether it is among parts of which one is to be shown."""

    @classmethod
    def of(cls, raw: bytes, depth: int = 0, *, is_choice: bool = False) -> "MimePart":
        """Return what is before and after the first empty line."""
        found = _EMPTY_LINE.search(raw)
        head, content = (raw[: found.start()], raw[found.end() :]) if found else (raw, b"")
        return cls(head, content, depth, is_choice)

    @cached_property
    def kind(self) -> str:
        """The media type, such as `text/plain`."""
        return self._headers.get_content_type()

    @property
    def is_attached(self) -> bool:
        return self._headers.get_content_disposition() == "attachment"

    @property
    def is_picture(self) -> bool:
        """Whether it is a picture within a text, which names it."""
        return self.kind.startswith("image/") and "content-id" in self._headers and not self.is_attached

    @property
    def name(self) -> str:
        """The name of its file, as the sender wrote it, or nothing."""
        named = self._headers.get_filename("")
        return words_of(named)

    @property
    def charset(self) -> str:
        return self._headers.get_content_charset("utf-8")

    def parameter(self, name: str) -> str:
        """Return a parameter of the media type in lower case, or nothing."""
        found = self._headers.get_param(name, "")
        return found.casefold() if isinstance(found, str) else ""

    @property
    def decoded(self) -> bytes:
        """The content without its transfer encoding; one that is broken as far as it goes."""
        match self._encoding:
            case "base64":
                return _from_base64(self.content)
            case "quoted-printable":
                return quopri.decodestring(self.content)
            case _:
                return self.content

    @property
    def is_damaged(self) -> bool:
        """Whether the content does not follow its transfer encoding."""
        if self._encoding == "base64":
            plain = _SPACE.sub(b"", self.content)
            return _BASE64.fullmatch(plain) is None or len(plain) % 4 != 0
        return self._encoding not in _ENCODINGS

    @property
    def size(self) -> int:
        """How many bytes the content has, about: one that may be large is not decoded for it."""
        if self._encoding == "base64":
            return len(_NO_BASE64.sub(b"", self.content)) * 3 // 4
        return len(self.decoded)

    @cached_property
    def _encoding(self) -> str:
        return str(self._headers.get("content-transfer-encoding", "")).strip().casefold()

    def leaves(self) -> "Iterator[MimePart]":
        """Yield the parts that have no parts, in their order; a message inside is one of them."""
        waiting: list[MimePart] = [self]
        left = MOST
        while waiting and left:
            part = waiting.pop()
            left -= 1
            inner = part.inner() if part.depth < DEEPEST else []
            if inner:
                waiting += reversed(inner[:left])
            else:
                yield part

    def inner(self) -> "list[MimePart]":
        """Return the parts of a multipart."""
        boundary = self._headers.get_boundary() if self.kind.startswith("multipart/") else None
        if not boundary:
            return []
        mark = re.escape(boundary.encode("utf-8", "surrogateescape"))
        # A pattern that begins with a text is searched for ten times as fast as one that begins with a place.
        end = re.compile(rb"\n--" + mark + rb"(--)?[ \t]*\r?(?=\n|\Z)")
        found = end.split(b"\n" + self.content, maxsplit=MOST)
        parts: list[MimePart] = []
        for last, raw in zip(found[1::2], found[2::2], strict=True):
            if last:
                break
            inner = raw.removeprefix(b"\n").removesuffix(b"\r")
            is_choice = self.is_choice or self.kind == "multipart/alternative"
            parts.append(MimePart.of(inner, self.depth + 1, is_choice=is_choice))
        return parts

    @cached_property
    def _headers(self):  # noqa: ANN202  the library's own class, by two names in two versions of its types
        return message_from_bytes(self.head[:_LONGEST_HEAD])


def _from_base64(content: bytes) -> bytes:
    plain = _NO_BASE64.sub(b"", content)
    whole = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return base64.b64decode(whole + b"=" * (-len(whole) % 4))
    except binascii.Error:
        return b""
