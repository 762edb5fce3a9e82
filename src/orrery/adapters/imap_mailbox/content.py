"""The text of a message: the best of its parts, decoded. Pure."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal

from orrery.adapters.imap_mailbox.headers import text_of
from orrery.adapters.imap_mailbox.parts import DEEPEST, Part
from orrery.ports.comms.mailboxes import MessageBody

LARGEST_BODY = 2 * 1024 * 1024
"""Bytes of a message that are fetched: of a longer text the cockpit shows no more."""

PREVIEW_BYTES = 4096
"""Bytes of a message's text that are fetched for its preview."""

_PREVIEW = 300
_HIDDEN = re.compile(
    r"<(style|script|head|title)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"<[^>]*(?:>|\Z)")
_SIGNATURE = "-- "
_KINDS: tuple[Literal["text/plain", "text/html"], ...] = ("text/plain", "text/html")


def body_of(raw: bytes) -> MessageBody:
    """Return the text of a message: its plain parts, or without any those of mark-up.

    The text of a message inside of it counts when there is no other.
    """
    level = [Part.of(raw)]
    for _ in range(DEEPEST):
        leaves = [leaf for one in level for leaf in one.leaves()]
        texts = [leaf for leaf in leaves if leaf.kind in _KINDS and not leaf.is_attached]
        for kind in _KINDS:
            text = "\n".join(_text(leaf) for leaf in texts if leaf.kind == kind)
            if text.strip():
                return MessageBody(kind, text)
        level = [Part.of(leaf.content) for leaf in leaves if leaf.kind == "message/rfc822"]
        if not level:
            break
    return MessageBody("text/plain", "")


def preview_of(head: bytes, text: bytes) -> str:
    """Return the beginning of a message's text on one line; `text` may be cut anywhere."""
    body = body_of(head.strip() + b"\r\n\r\n" + text)
    content = body.content
    if body.media_type == "text/html":
        content = unescape(_TAG.sub(" ", _HIDDEN.sub(" ", content)))
    return " ".join(content.split())[:_PREVIEW]


def _text(part: Part) -> str:
    text = text_of(part.decoded, part.charset).replace("\r\n", "\n")
    if part.kind == "text/plain" and part.parameter("format") == "flowed":
        return "\n".join(_unflowed(text, joins=part.parameter("delsp") == "yes"))
    return text


def _unflowed(text: str, *, joins: bool) -> Iterator[str]:
    """Yield the paragraphs of a text (RFC 3676), the quoted ones with their marks.

    With `joins` (DelSp) the space at the end of a line is none of the text.
    """
    pieces: list[str] = []
    before: int | None = None  # the depth of quotation of a line that goes on
    for line in text.split("\n"):
        plain = line.lstrip(">")
        depth = len(line) - len(plain)
        plain = plain.removeprefix(" ")
        is_signature = plain == _SIGNATURE
        if pieces and (before != depth or is_signature):
            yield "".join(pieces)
            pieces = []
        if not pieces and depth:
            pieces.append(">" * depth + " ")
        flows = plain.endswith(" ") and not is_signature
        pieces.append(plain[:-1] if flows and joins else plain)
        before = depth if flows else None
    yield "".join(pieces)
