"""What shows fast that a text needs a closer look: one search finds which of these expressions are in it."""

from orrery.scanner.regex import PatternSet

DEFANGED = r"[\[({<][ ]?(?:\.|(?i:dot|at)|@)[ ]?[\])}>]|(?i: dot |,[ ]?dc=| at [\w-]{1,63}(?:\.| dot )\w)"
WRITTEN = (
    r"[\x80-\xff]|&#|&[A-Za-z][A-Za-z0-9]{1,31};|%u?[0-9A-Fa-f]{2}|\\(?:[uU][0-9A-Fa-f{]|x[0-9A-Fa-f]{2}|[0-3][0-7]{2})|"
    + DEFANGED
)
UTF_7 = r"\+[AB][A-Za-z0-9+/]{2}|\+[A-Za-z0-9+/]{3,}-"
MAIL = r"=\r?\n|=[2-7A-F89][0-9A-F]"
WIDE = r"[\x20-\x7e]\x00[\x20-\x7e]\x00"
ESCAPE = r"\\[nrt] *[A-Za-z\x80-\xff]"
JWT = r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"
LABEL = r"(?i:track)[\s\"'`\\:<&%=;\x1b\x80-\xff]"
GUID_DIGITS = "[0-9A-Fa-f]{8}(?:(?: ?- ?|_)?[0-9A-Fa-f]{4}){3}(?: ?- ?|_)?[0-9A-Fa-f]{12}"
GUID_PARTS = (
    r"0[xX][0-9A-Fa-f]{1,8}(?:[\s,{}]{1,6}0[xX][0-9A-Fa-f]{1,4}){2}(?:[\s,{}]{1,6}0[xX][0-9A-Fa-f]{1,2}){8}"
)
GUID_FORMS = f"{GUID_DIGITS}|{GUID_PARTS}"
GUID = f"[^0-9A-Za-z](?:{GUID_FORMS})[^0-9A-Za-z]"
_NEXT = "[ :,-]{0,2}(?:0x)?"
_ASCII, _TWO = "[2-7][0-9A-Fa-f]", f"[CcDd][0-9A-Fa-f]{_NEXT}[89ABab][0-9A-Fa-f]"
HEX = "|".join(
    _NEXT.join(octets)
    for octets in (
        [_ASCII] * 3,
        [_ASCII, _TWO],
        [_TWO, "[2-9A-Fa-f][0-9A-Fa-f]"],
        ["(?:[Ee][0-9A-Fa-f]|[Ff]0)", *["[89ABab][0-9A-Fa-f]"] * 2],
    )
)
"""Three octets of a text in UTF-8, in digits."""

DEFINED = r"\n {0,3}\[[^\[\]\n]+\]:[ \t]"
"""The target of a link of Markdown whose text is elsewhere."""

CANARY = r"[A-Za-z](?:[\s_.-]{0,3}[0-9][\s_.-]{0,3}[A-Za-z]){7}[\s_.-]{0,3}[0-9]"
"""Sixteen letters and digits by turns."""

_HINTS = (WRITTEN, DEFANGED, UTF_7, MAIL, WIDE, ESCAPE, JWT, LABEL, GUID, CANARY, HEX, DEFINED)
_SET = PatternSet([one.encode() for one in _HINTS])


def hints(octets: bytes) -> set[str]:
    """Return which of the expressions above are in a text."""
    return {_HINTS[one] for one in _SET(octets)}
