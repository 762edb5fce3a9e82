"""One form for letters that look the same or mean the same, whichever characters they are written with."""

import re
import sys
import unicodedata
from collections.abc import Iterator

MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
"""Marks without which a word is read as the same: of Latin, Greek and Cyrillic letters, and optional vowels.

Marks of other scripts make another letter, as in Hindi and Thai, and stay.
"""

IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not seen: Unicode's Default_Ignorable_Code_Point."""

_SPELLED = {
    "ß": "ss",
    "ẞ": "SS",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "þ": "th",
    "Þ": "Th",
    "øØłŁđĐħĦŧŦðÐıĸŋŊȷƒəƏ": "oOlLdDhHtTdDiknNjfeE",
    "。・·•՚׳\x85⁄∕׀ς": ".---'' //|\u03c3",  # noqa: RUF001  the table of such letters
}
SPELLED = {
    one: spelled
    for these, those in _SPELLED.items()
    for one, spelled in ([(these, those)] if len(these) == 1 else zip(these, those, strict=True))
}
"""Letters that Unicode does not take apart, as people type them without their marks; and some punctuation."""

_LOOKS = {
    # Cyrillic
    "АВЕЅІЈКМНОРСТУХҮԌԚԜҺӀԀѴ": "ABESIJKMHOPCTYXYGQWhIdV",
    "аеѕіјорсухүһԁԛԝѵӏвкмнтгпьԍѡ": "aesijopcyxyhdqwvlbkmhtrnbgw",
    # Greek
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ": "ABEZHIKMNOPTYXCJ",  # noqa: RUF001  the table of look-alikes
    "αβγεηικνορστυχϲϳω": "abyenikvopotuxcjw",
    # Armenian
    "ՕՏՍԼօոռհսցզգյքա": "OSULonnhugqqjfw",
    # Latin beyond its first blocks: one-eyed g, small capitals, hooked letters
    "ɑɡɩɪʏʋɴʀʙɢʜʟɯǀꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜰ": "agiiyvnrbghlwlsacdejkmoptuvwzf",
    "ɓƈɗɠɦƙɱɲɳƞƥʠɽʂƭʈʉⱴɏƴƶƄƅƽɛɔ": "bcdghkmnnnpqrsttuvyyzbbsec",
}
"""Letters that look like a Latin one: of Unicode TR39 (confusables.txt), with hooks, and small capitals."""

LOOKS = {ord(one): like for these, those in _LOOKS.items() for one, like in zip(these, those, strict=True)}

LOOK = re.compile("[" + "".join(map(chr, LOOKS)) + "]")

NATIVE = {ord(chr(one).casefold()): ord(like.casefold()) for one, like in reversed(LOOKS.items())}
"""The same without case, for a word of another script with Latin letters in it."""

_SQUARES = ((0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))
"""White letters on black, and the letters that flags are made of."""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+(?:[\x00-\x7f]{1,2}[^\x00-\x7f]+)*")
"""Runs with the little ASCII between them, which stays as it is: a call costs more than some letters of it."""

_TAKEN_APART = re.compile("[\u3099\u309a\u1100-\u11ff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")


class _Plain(dict[int, str]):
    """Makes the entry of a character when it is first needed."""

    def __missing__(self, code: int) -> str:
        made = self[code] = _plain_character(chr(code))
        return made


def _plain_character(one: str) -> str:
    code = ord(one)
    if IGNORED.match(one) or MARKS.match(one):
        return ""
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004  a byte that is not UTF-8, as `surrogateescape` gives it
        return _plain_character(bytes([code - 0xDC00]).decode("cp1252", "replace"))
    for first, count in _SQUARES:
        if first <= code < first + count:
            return chr(ord("A") + code - first)
    apart = MARKS.sub("", unicodedata.normalize("NFKD", one))
    return "".join(_cased(SPELLED.get(part, part)) for part in apart if not IGNORED.match(part))


def _cased(part: str) -> str:
    if part.isascii():
        return part
    category = unicodedata.category(part[0])
    if category in {"Zs", "Zl", "Zp"}:
        return " "
    if category == "Pd" or part == "\u2212":
        return "-"
    if part in "\u2018\u2019\u201a\u201b\u02bc\u02b9\u2032\u00b4\u055a":
        return "'"
    return part if len(part.casefold()) == len(part) else part.casefold()


_PLAIN = _Plain()


def plain(text: str) -> str:
    """Return a text in plain characters: without marks, width, style, and what is not seen.

    Its case stays, and so do the letters of other scripts. ASCII stays as it is, so lines are the same.
    """
    if text.isascii():
        return text
    made = _NOT_ASCII.sub(_plain_run, text)
    return unicodedata.normalize("NFC", made) if _TAKEN_APART.search(made) else made


def _plain_run(run: re.Match[str]) -> str:
    return run[0].translate(_PLAIN)


def tags_as_text(text: str) -> str:
    """Return a text in which a message that is hidden in Unicode's tag characters can be read."""
    return _TAGS.sub(lambda run: " " + "".join(chr(ord(one) - 0xE0000) for one in run[0]) + " ", text)


def script(one: str) -> str:
    """Return the first word of a letter's name in Unicode, such as CYRILLIC, and nothing for others."""
    return unicodedata.name(one, "").partition(" ")[0] if one.isalpha() else ""


def is_letter(one: str) -> bool:
    return one.isalpha() or (not one.isascii() and unicodedata.category(one)[0] == "M")


def _ranges() -> Iterator[tuple[int, int]]:
    yield from ((0x0E00, 0x0EFF), (0x0F00, 0x0FFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF))
    yield from ((0x2E80, 0x2FDF), (0x3005, 0x30FF), (0x3130, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x4DBF))
    yield from ((0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


UNSPACED = re.compile("[" + "".join(f"{chr(a)}-{chr(min(b, sys.maxunicode))}" for a, b in _ranges()) + "]")
"""Letters of scripts without spaces between words, and of Korean, which adds to a word without one."""
