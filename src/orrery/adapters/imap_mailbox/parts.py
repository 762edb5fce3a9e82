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

DEEPEST = 30
"""Levels of parts; what is deeper is not looked at."""

MOST = 1000
"""Parts of a message; those behind are not looked at."""

_LONGEST_HEAD = 16 * 1024
_EMPTY_LINE = re.compile(rb"\r?\n[ \t]*\r?\n|\A[ \t]*\r?\n")
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


@dataclass(frozen=True)
class Part:
    """A part, or the message itself, as it was received."""

    head: bytes
    content: bytes
    depth: int = 0

    @classmethod
    def of(cls, raw: bytes, depth: int = 0) -> "Part":
        """Return what stands before and behind the first empty line."""
        found = _EMPTY_LINE.search(raw)
        return cls(raw[: found.start()], raw[found.end() :], depth) if found else cls(raw, b"", depth)

    @cached_property
    def kind(self) -> str:
        """The media type, such as `text/plain`."""
        return self._headers.get_content_type()

    @property
    def is_attached(self) -> bool:
        return self._headers.get_content_disposition() == "attachment"

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
        match str(self._headers.get("content-transfer-encoding", "")).strip().casefold():
            case "base64":
                return _from_base64(self.content)
            case "quoted-printable":
                return quopri.decodestring(self.content)
            case _:
                return self.content

    def leaves(self) -> "Iterator[Part]":
        """Yield the parts that have no parts, in their order; a message inside is one of them."""
        waiting: list[Part] = [self]
        left = MOST
        while waiting and left:
            part = waiting.pop()
            left -= 1
            inner = part.inner() if part.depth < DEEPEST else []
            if inner:
                waiting += reversed(inner[:left])
            else:
                yield part

    def inner(self) -> "list[Part]":
        """Return the parts of a multipart."""
        boundary = self._headers.get_boundary() if self.kind.startswith("multipart/") else None
        if not boundary:
            return []
        mark = re.escape(boundary.encode("utf-8", "surrogateescape"))
        # A pattern that begins with a text is searched for ten times as fast as one that begins with a place.
        end = re.compile(rb"\n--" + mark + rb"(--)?[ \t]*\r?(?=\n|\Z)")
        found = end.split(b"\n" + self.content, maxsplit=MOST)
        parts: list[Part] = []
        for last, raw in zip(found[1::2], found[2::2], strict=True):
            if last:
                break
            parts.append(Part.of(raw.removeprefix(b"\n").removesuffix(b"\r"), self.depth + 1))
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
