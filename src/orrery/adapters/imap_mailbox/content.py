"""The text of a message: the best of its parts, decoded. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape
from typing import Literal

from orrery.adapters.imap_mailbox.calendar_part import invitation_of
from orrery.adapters.imap_mailbox.headers import is_charset, text_of
from orrery.adapters.imap_mailbox.parts import DEEPEST, MimePart
from orrery.adapters.imap_mailbox.responses import Item
from orrery.adapters.imap_mailbox.structure import described_parts
from orrery.ports.comms.mailboxes import Attachment, MessageBody, Trouble

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
_CALENDAR = "text/calendar"
_KINDS: tuple[Literal["text/plain", "text/html"], ...] = ("text/plain", "text/html")


def body_of(raw: bytes, structure: Item | None = None) -> MessageBody:
    """Return the text of a message: its plain parts, or without any those of mark-up; its other parts are named.

    The text of a message inside of it counts when there is no other. `structure` is that of a message of which
    `raw` is the beginning.
    """
    level, found, leaves = [MimePart.of(raw)], MessageBody("text/plain", ""), list[MimePart]()
    for _ in range(DEEPEST):
        inside = [leaf for one in level for leaf in one.leaves()]
        leaves = leaves or inside
        found = _texts(inside)
        level = [MimePart.of(leaf.content) for leaf in inside if leaf.kind == "message/rfc822"]
        if found.content.strip() or not level:
            break
    calendar = next((leaf for leaf in leaves if leaf.kind == _CALENDAR), None)
    is_cut = len(raw) >= LARGEST_BODY
    listed = [*described_parts(structure)] if is_cut else [(leaf, leaf.size) for leaf in leaves]
    is_missing = is_cut and not (listed and found.content.strip())
    return replace(
        found,
        attachments=tuple(_attachment(leaf, size) for leaf, size in listed if _is_other(leaf, found)),
        invitation=invitation_of(text_of(calendar.decoded, calendar.charset)) if calendar else None,
        troubles=(*found.troubles, "cut") if is_missing else found.troubles,
    )


def _texts(leaves: Sequence[MimePart]) -> MessageBody:
    """Return the text of parts, of the better kind, and what is wrong with it."""
    for kind in _KINDS:
        shown = [leaf for leaf in leaves if leaf.kind == kind and not leaf.is_attached]
        text = "\n".join(map(_text, shown))
        if text.strip() or any(leaf.is_damaged for leaf in shown):
            return MessageBody(kind, text, troubles=(*_troubles(shown),))
    return MessageBody("text/plain", "")


def _troubles(shown: Sequence[MimePart]) -> Iterator[Trouble]:
    if any(not is_charset(leaf.charset, leaf.decoded) for leaf in shown):
        yield "charset"
    if any(leaf.is_damaged for leaf in shown):
        yield "encoding"


def _is_other(leaf: MimePart, shown: MessageBody) -> bool:
    """Return whether a part is neither shown, nor another form of what is, nor a picture in it."""
    if leaf.kind == _CALENDAR:
        return leaf.is_attached and not leaf.is_choice
    if leaf.kind in _KINDS and not leaf.is_attached:
        return leaf.kind != shown.media_type and not leaf.is_choice and bool(leaf.content.strip())
    return not leaf.is_picture and bool(leaf.content or leaf.name)


def _attachment(leaf: MimePart, size: int) -> Attachment:
    kind = leaf.parameter("smime-type")
    return Attachment(leaf.name, f"{leaf.kind}; smime-type={kind}" if kind else leaf.kind, size)


def preview_of(head: bytes, text: bytes) -> str:
    """Return the beginning of a message's text on one line; `text` may be cut anywhere."""
    body = body_of(head.strip() + b"\r\n\r\n" + text)
    content = body.content
    if body.media_type == "text/html":
        content = unescape(_TAG.sub(" ", _HIDDEN.sub(" ", content)))
    return " ".join(content.split())[:_PREVIEW]


def _text(part: MimePart) -> str:
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
