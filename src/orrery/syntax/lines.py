"""Texts on one line: the check, and the conversion of a text from outside."""

import re

REPLACED = "\ufffd"
"""The replacement of an invisible character."""

_HEADER_TEXT = re.compile(r"[!-~]([ -~]*[!-~])?")


def is_line(text: str, most: int) -> bool:
    """Return whether a text is 1 to `most` characters, none of which ends a line, hides or steers."""
    return text.isprintable() and 0 < len(text) <= most


def one_line(text: str, most: int | None = None) -> str:
    """Return a text from outside as one line, cut to `most` characters, without invisible or control characters.

    White space, line ends too, becomes single spaces; any other character that cannot be printed `REPLACED`.
    """
    line = " ".join(text.split())
    return "".join(one if one.isprintable() else REPLACED for one in line)[:most]


def is_header_text(text: str) -> bool:
    """Return whether a text travels in an HTTP header unaltered: printable ASCII, without a space at its ends."""
    return _HEADER_TEXT.fullmatch(text) is not None


def visible(text: str) -> str:
    r"""Return a text of one line in which whatever could steer a terminal, or hide, is seen: `\x1b`, `\u202e`."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
