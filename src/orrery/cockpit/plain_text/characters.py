"""Which characters a text may hold: none that a reader cannot see or that changes the order of what they see."""

import re

_NEWLINES = re.compile("\r\n|[\r\u2028\u2029]")

_HALVES = re.compile("[\ud800-\udfff]")

_FORBIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls other than tab and newline
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # invisible, or they set the direction
    "\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # annotations and other formats
    "\U000e0000-\U000e0fff"  # tags: a second, invisible alphabet
    "]+"
)

_JOINERS = re.compile("([\u200c\u200d])[\u200c\u200d]+")

_IDLE_JOINER = re.compile("(?<![^\x00-\x7f\\s])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\\s])")
"""A joiner with nothing to join: emoji and the scripts that need one have it between two characters."""

_BLANK_LINES = re.compile("\n{3,}")

_VISIBLE = re.compile("[^\\s\u034f\u115f\u1160\u17b4\u17b5\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0]")

_WORD = re.compile(f"{_VISIBLE.pattern}+")


def well_formed(text: str) -> str:
    """Return a text that UTF-8 can hold, with `\\n` as its only end of a line."""
    return _NEWLINES.sub("\n", _HALVES.sub("\N{REPLACEMENT CHARACTER}", text))


def cleaned(text: str) -> str:
    """Return a text without forbidden characters, trailing spaces, and more than one blank line in a row."""
    allowed = _FORBIDDEN.sub("", _NEWLINES.sub("\n", text))
    joined = _IDLE_JOINER.sub("", _JOINERS.sub(r"\1", allowed))
    lines = "\n".join(line.rstrip() for line in joined.split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip("\n")


def has_visible(text: str) -> bool:
    """Return whether there is anything to see."""
    return _VISIBLE.search(_FORBIDDEN.sub("", text)) is not None


def visible_length(text: str) -> int:
    """Return how many characters of a text are seen, with the spaces between its words."""
    words = _WORD.findall(_FORBIDDEN.sub("", text))
    return sum(map(len, words)) + max(len(words) - 1, 0)
