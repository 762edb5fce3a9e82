"""What a mail server answers, taken apart, and how names and numbers are written to it. Pure."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from itertools import groupby
from typing import Any, cast

from orrery.adapters.imap_mailbox.connection import NotImapError, quoted

LONGEST_SET = 6000
"""Characters of the numbers in one command: servers take 8192 for all of it (RFC 7162, section 4)."""

Piece = bytes | tuple[bytes, bytes] | None
"""A line of an answer, or the part of one that ends with a literal, and the literal: as the library has them."""

Item = bytes | list["Item"]
"""An atom or a string, or a list of items in parentheses."""

_DEEPEST = 40
_TOKEN = re.compile(
    rb'\s*(?:(?P<open>\()|(?P<close>\))|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<literal>\{\d+\}$)'
    rb"|(?P<atom>[^\s()\"\[]+(?:\[[^\]]*\][^\s()\"]*)?)|(?P<end>$))",
    re.DOTALL,
)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BEYOND_ASCII = re.compile(r"[^\x20-\x7e]+")


def lines(pieces: Iterable[Any]) -> Iterator[list[Item]]:
    """Yield the items of each line of the library's pieces; raise `NotImapError`."""
    line: list[Item] = []
    opened = [line]
    for piece in cast("Iterable[Piece]", pieces):
        text, literal = piece if isinstance(piece, tuple) else (piece or b"", None)
        _read_items(text, literal, opened)
        if literal is None:  # behind a literal the line goes on
            if len(opened) > 1:
                raise NotImapError
            if line:
                yield line
            line = []
            opened = [line]


def _read_items(text: bytes, literal: bytes | None, opened: list[list[Item]]) -> None:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or len(opened) > _DEEPEST:
            raise NotImapError
        place = found.end()
        match found.lastgroup:
            case "open":
                inner: list[Item] = []
                opened[-1].append(inner)
                opened.append(inner)
            case "close" if len(opened) > 1:
                _ = opened.pop()
            case "text":
                opened[-1].append(_ESCAPED.sub(rb"\1", found["text"]))
            case "literal" if literal is not None:
                opened[-1].append(literal)
            case "atom":
                opened[-1].append(b"" if found["atom"].upper() == b"NIL" else found["atom"])
            case "end":
                pass
            case _:
                raise NotImapError


def fetched(pieces: Iterable[Any]) -> Iterator[Mapping[bytes, Item]]:
    """Yield what was fetched of each message, by the names of the items; several of one name are joined,
    each on its own lines: the first may have been cut.

    The name of a part of a message is what comes before the space or the end of its brackets: `BODY[TEXT`.
    """
    for line in lines(pieces):
        items = line[-1] if isinstance(line[-1], list) else []
        found: dict[bytes, Item] = {}
        for name, value in zip(items[::2], items[1::2], strict=False):
            if isinstance(name, bytes):
                key = re.split(rb"[ \].<]", name.upper(), maxsplit=1)[0]
                before = found.get(key)
                joined = isinstance(before, bytes) and isinstance(value, bytes)
                found[key] = cast("bytes", before) + b"\r\n" + cast("bytes", value) if joined else value
        yield found


def number_of(item: Item | None) -> int | None:
    """Return an item as a number, or None when it is none."""
    return int(item) if isinstance(item, bytes) and item.isdigit() and len(item) < 20 else None  # noqa: PLR2004  digits of 64 bits


def numbers_of(pieces: Iterable[Any]) -> set[int]:
    """Return the numbers that a search found; raise `NotImapError`."""
    try:
        return {int(one) for piece in pieces if piece for one in piece.split()}
    except (ValueError, AttributeError):
        raise NotImapError from None


def moment_of(item: Item | None) -> datetime | None:
    """Return an INTERNALDATE in UTC, or None when it is none."""
    try:
        found = parsedate_to_datetime(item.decode("ascii") if isinstance(item, bytes) else "")
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)  # one in -0000 comes without a zone
    except (ValueError, OverflowError):
        return None


def sets_of(numbers: Sequence[int]) -> Iterator[str]:
    """Yield numbers as the sets of one or several commands: `1:3,7`."""
    text = ""
    # What follows one another is as far from its place as what is before it.
    for _, several in groupby(enumerate(sorted(numbers)), key=lambda one: one[1] - one[0]):
        (_, first), *rest = several
        run = f"{first}:{rest[-1][1]}" if rest else str(first)
        if len(text) + len(run) >= LONGEST_SET:
            yield text
            text = ""
        text = f"{text},{run}" if text else run
    if text:
        yield text


def day_of(day: date) -> str:
    """Return a day as a search has it."""
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year:04}"


def folder_name(name: str) -> str:
    """Return the name of a folder as a string of the protocol: in its own UTF-7 (RFC 3501, 5.1.3)."""
    return quoted(_BEYOND_ASCII.sub(_shifted, name.replace("&", "&-")))


def _shifted(found: re.Match[str]) -> str:
    code = base64.b64encode(found[0].encode("utf-16-be")).decode()
    return f"&{code.rstrip('=').replace('/', ',')}-"
