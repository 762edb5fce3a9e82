"""The two tracks of data, and the label of a track in all that Orrery writes (spec 3, Authentication 4)."""

import re
import sys
from collections.abc import Iterator
from typing import Literal, get_args

Track = Literal["A", "B"]
"""Whose data it is: A is corporate and internal, B a lab whose material is public (spec 3, Authentication 4)."""

TRACKS: tuple[Track, ...] = get_args(Track)

_QUOTE = (
    rb"""(?:["'`]|\\{1,15}(?:["'`]|(?:u00|x)2[27])|%2[27]|\xe2\x80[\x98-\x9f]"""
    rb"""|&(?:quot|apos|[lr][sd]quo|#0*(?:3[49]|82(?:1[6-9]|2[0-3]))|#[xX]0*(?:2[27]|201[89a-fA-F]));){1,4}"""
)
"""A quotation mark as copies have it: plain, doubled, escaped in a text, in mark-up, or curled."""

_GAP = rb"(?:\s|<[^<>]{1,300}>|\x1b\[[0-9;]{0,20}m|&nbsp;|&#160;|\xc2?\xa0|%20)*+"
"""What may come between the parts of a label: white space, and colours for the web and for terminals."""

_COLON = rb"(?::|%3[aA]|=(?:>|&gt;))"

HEADER = "Orrery-Track"
"""The header that has the label of an HTTP answer whose body is not JSON."""

_TIE = rb"(?:\x1b\[[0-9;]{0,20}m|<[^<>]{1,300}>|\r?\n[ \t>|]{0,100})*+"
"""What may come between the parts of a token: colours, and the end of a line that was too short for it."""

_TOKEN = _TIE.join(
    [
        rb"(?:\[|%5[bB]|(?:u00|x)5[bB]|&(?:lbrack|lsqb|#0*91|#[xX]0*5[bB]);)",
        rb"(?i:track)",
        rb"(?::|%3[aA]|&(?:colon|#0*58|#[xX]0*3[aA]);)",
        rb"([AB])",
        rb"\\{0,15}(?:\]|%5[dD]|(?:u00|x)5[dD]|&(?:rbrack|rsqb|#0*93|#[xX]0*5[dD]);)",
    ]
)

_LABEL = re.compile(
    rb"(?<![A-Za-z_-])(?i:track)"
    + _GAP.join([b"", _QUOTE, _COLON, _QUOTE, rb"([AB])", _QUOTE])
    # As JavaScript prints it, and as YAML on its own line.
    + rb"|(?<![A-Za-z_-])track\s*:\s*"
    + _QUOTE
    + rb"([AB])"
    + _QUOTE
    + rb"|"
    + _TOKEN
    + rb"|^(?:\xef\xbb\xbf|\xff\xfe)?[ -]*track:[ ]+([AB])[ ]*\r?$",
    re.MULTILINE,
)


_REMOVED = re.compile(_TOKEN + rb"[ ]?(?:\r?\n)?")


def label(track: Track) -> str:
    """Return the token that names the track of the data beside it, for a person and for the gate.

    It holds neither a blank nor what mark-up or CSV would write in another way, so copies keep it as it is.
    """
    return f"[track:{track}]"


def labelled(text: str, track: Track) -> str:
    """Return a plain text with its label as the first line."""
    return f"{label(track)}\n{text}"


def without_tokens(text: str) -> str:
    """Return a text that a recipient may get: what was copied into it with its label has none of it any more."""
    return _REMOVED.sub(b"", text.encode(errors="surrogatepass")).decode(errors="surrogatepass")


def label_places(content: bytes, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[int, int, Track]]:
    """Yield the positions of labels in a text without zero bytes: from, to, and the track."""
    for match in _LABEL.finditer(content, start, end):
        yield match.start(), match.end(), "A" if match[match.lastindex or 0] == b"A" else "B"


def labels_in(content: bytes) -> frozenset[Track]:
    """Return the tracks whose label is anywhere in a text, in UTF-8 or UTF-16, however it was printed.

    All JSON that Orrery writes about an account's data has the label `"track": "A"` or `"B"` beside it, and
    everything else has the token of `label`, so a copy of it, or of a part with the label, still names its track.
    """
    found = {track for _, _, track in label_places(content.replace(b"\0", b""))}
    return frozenset[Track](track for track in TRACKS if track in found)
