"""The two tracks of data, and how what Orrery writes says which it is of (spec 3, Authentication 4)."""

import re
from typing import Literal, get_args

Track = Literal["A", "B"]
"""Whose data it is: A is corporate and internal, B a lab whose material is public (spec 3, Authentication 4)."""

TRACKS: tuple[Track, ...] = get_args(Track)

_LABEL = re.compile(rb'"track"\s*:\s*"([AB])"')


def labels_in(content: bytes) -> frozenset[Track]:
    """Return the tracks whose label stands anywhere in a text.

    All JSON that Orrery writes about an account's data has the label `"track": "A"` or `"B"` beside it, so a copy
    of it, or of a part with the label, still says whose it is.
    """
    found = {match[1].decode() for match in _LABEL.finditer(content)}
    return frozenset[Track](track for track in TRACKS if track in found)
