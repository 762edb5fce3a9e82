"""Escapes within what is itself encoded: `%2B` and `&#43;` in Base64, and octets that are no text."""

import re
from collections.abc import Container, Iterator
from html import unescape
from typing import Final

from orrery.scanner.regex import compiled, places

SHORTEST: Final = 4
"""Characters of the shortest run in which escapes are undone."""

_ANY: Final = rb"[A-Za-z0-9+/_=-]"
_X: Final = rb"[0-9A-Fa-f]"
HINT: Final = (
    rb"%%%(x)b{2}|&(?:#[0-9]{1,7}|#[xX]%(x)b{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|=[0-9A-F]{2}|=\r?\n"
    rb"|\\{1,4}(?:(?:u00|x)%(x)b{2}|[0-3][0-7]{2}|/)"
) % {b"x": _X}
"""Percent-encoding, character references, quoted-printable, and escapes of JSON and of programs."""

_RUN: Final = compiled(b"%(any)b*(?:%(one)b)(?:%(any)b|%(one)b)*" % {b"any": _ANY, b"one": HINT})
_ONE: Final = re.compile(HINT)


def find(text: bytes, hints: Container[bytes]) -> Iterator[tuple[int, int]]:
    """Yield runs of letters of an encoding with at least one escape in them."""
    del hints
    return places(text, _RUN)


def undone(run: bytes) -> Iterator[bytes]:
    """Yield the octets that a run encodes, and those from its first escape on."""
    yield _ONE.sub(_octets, run)
    first = _ONE.search(run)
    if first and first.start():
        yield _ONE.sub(_octets, run[first.start() :])


def _octets(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if text.startswith(b"&"):
        return unescape(text.decode()).encode(errors="replace")
    if text.startswith(b"%") or (text.startswith(b"=") and not text.endswith(b"\n")):
        return bytes.fromhex(text[1:].decode())
    if text.startswith(b"="):
        return b""
    digits = text.lstrip(b"\\")
    if digits[:1] in {b"u", b"x"}:
        return bytes.fromhex(digits[-2:].decode())
    return b"/" if digits == b"/" else bytes([int(digits, 8)])
