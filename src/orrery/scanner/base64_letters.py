"""Base64 and hexadecimal digits as patterns: the letters that encode known octets, at each place in a group."""

from binascii import Error, a2b_base64
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
STANDARD: Final = bytes.maketrans(b"-_", b"+/")
"""From the alphabet of web addresses to the other one."""

OneOf = Sequence[int]
"""What an octet may be; it can be hashed."""

_EVERY: Final = range(256)


def letters(octets: Sequence[OneOf], at: int = 0, gap: bytes = b"") -> bytes:
    """Return a pattern for the letters that encode octets, of which the first is behind `at` others of its group.

    A `gap` is a pattern for what may separate them.
    """
    around = [*[_EVERY] * at, *octets, *[_EVERY] * 3]
    groups = [(_EVERY, *around[first : first + 3], _EVERY) for first in range(0, at + len(octets), 3)]
    known = [_numbers(group[place], group[place + 1], 2 * place) for group in groups for place in range(4)]
    limited = [place for place, numbers in enumerate(known) if len(numbers) < len(ALPHABET)]
    return gap.join(map(letter, known[limited[0] : limited[-1] + 1]))


@lru_cache(4096)
def _numbers(before: OneOf, after: OneOf, bits: int) -> frozenset[int]:
    """Return the numbers of a letter that has the last bits of an octet, and the first ones of the next."""
    lasts = {(octet & (1 << bits) - 1) << 6 - bits for octet in before}
    firsts = {octet >> 2 + bits for octet in after}
    return frozenset(last | first for last in lasts for first in firsts)


@lru_cache(4096)
def letter(numbers: Iterable[int]) -> bytes:
    """Return a pattern for letters of both alphabets."""
    known = (
        b"["
        + b"".join({62: rb"+\-", 63: b"/_"}.get(one, ALPHABET[one : one + 1]) for one in sorted(numbers))
        + b"]"
    )
    return b"(?:" + known + rb"|\\/)" if b"/" in known else known


def digits(octet: int) -> bytes:
    """Return a pattern for the hexadecimal digits of an octet."""
    return b"[%X%x][%X%x]" % (*[octet >> 4] * 2, *[octet & 15] * 2)


def decoded(encoded: bytes) -> bytes:
    """Return what letters of the standard alphabet encode, with or without padding; nothing if they are none."""
    whole = encoded[: len(encoded) - (len(encoded) % 4 == 1)]
    try:
        return a2b_base64(whole + b"=" * (-len(whole) % 4))
    except Error:
        return b""
