"""The two tracks of data, and how what Orrery writes says which it is of (spec 3, Authentication 4)."""

import re
from typing import Literal, get_args

Track = Literal["A", "B"]
"""Whose data it is: A is corporate and internal, B a lab whose material is public (spec 3, Authentication 4)."""

TRACKS: tuple[Track, ...] = get_args(Track)

_QUOTE = rb"""(?:["']|\\{1,15}(?:["']|u0022)|&quot;|&#0?34;|&#[xX]22;|\xe2\x80[\x98-\x9f])"""
"""A quotation mark as copies have it: plain, escaped in a text, in mark-up, or curled by a word processor."""

_LABEL = re.compile(_QUOTE + rb"track" + _QUOTE + rb"\s*:\s*" + _QUOTE + rb"([AB])" + _QUOTE)


def labels_in(content: bytes) -> frozenset[Track]:
    """Return the tracks whose label stands anywhere in a text, be it UTF-8 or UTF-16.

    All JSON that Orrery writes about an account's data has the label `"track": "A"` or `"B"` beside it, so a copy
    of it, or of a part with the label, still says whose it is.
    """
    found = {match[1].decode() for match in _LABEL.finditer(content.replace(b"\0", b""))}
    return frozenset[Track](track for track in TRACKS if track in found)
