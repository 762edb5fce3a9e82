"""Escapes within what is itself encoded: `%2B` and `&#43;` in Base64, and octets that are no text."""

import re
from binascii import a2b_qp
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import unquote_to_bytes

from orrery.scanner.unpack.byte_patterns import Finder, finder, spans

SHORTEST: Final = 4
"""Characters of the shortest run in which an escape is undone."""

_ANY: Final = rb"[A-Za-z0-9+/_=-]"
_XX: Final = rb"[0-9A-Fa-f]{2}"


def _runs(escape: bytes, plain: bytes = _ANY) -> Finder:
    """Return what finds runs of letters of an encoding with at least one escape in them."""
    either = b"(?:" + plain + b"|" + escape + b")*"
    return finder(either + b"(?:" + escape + b")" + either)


_PERCENT: Final = _runs(b"%" + _XX)
_ENTITY: Final = _runs(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPE: Final = _runs(rb"\\{1,4}(?:u00[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2}|[0-3][0-7]{2}|/)")
_QUOTED: Final = _runs(rb"=(?:[0-9A-F]{2}|\r?\n)", rb"[A-Za-z0-9+/_-]")
_ONE: Final = re.compile(rb"\\{1,4}(?:(?:u00|x)([0-9A-Fa-f]{2})|([0-3][0-7]{2})|(/))")


def find_percent(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield runs of a web address."""
    yield from spans(text, _PERCENT)


def percent(run: bytes) -> Iterator[bytes]:
    """Yield the octets."""
    yield unquote_to_bytes(run)


def find_entities(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield runs with character references."""
    yield from spans(text, _ENTITY)


def entities(run: bytes) -> Iterator[bytes]:
    """Yield the text."""
    yield unescape(run.decode("latin-1")).encode(errors="replace")


def find_escapes(text: bytes) -> Iterator[tuple[int, int]]:
    r"""Yield runs of a string of a program with `\\u002b`, `\\x1f` or `\\037`."""
    yield from spans(text, _ESCAPE)


def escapes(run: bytes) -> Iterator[bytes]:
    """Yield the octets."""
    yield _ONE.sub(_octet, run)


def find_quoted(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield runs in quoted-printable."""
    yield from spans(text, _QUOTED)


def quoted(run: bytes) -> Iterator[bytes]:
    """Yield the octets."""
    yield a2b_qp(run)


def _octet(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes.fromhex(found[1].decode())
    return bytes([int(found[2], 8)]) if found[2] else b"/"
