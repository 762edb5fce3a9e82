"""Where a word begins and ends, as a reader sees it, and what is a word at all."""

import re

from orrery.syntax.character_folding import UNSPACED, is_letter

CERTAIN = 8
"""Letters from which a term does not come about in random text."""

_RANDOM_HEX = (8, 3)
_RANDOM_LETTERS = 20
_RUN = re.compile(r"[A-Za-z0-9+/]*")
_HEX = re.compile(r"[A-Fa-f0-9-]*")
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[0-9]|(?<=[A-Z])[a-z](?=[a-z]?[A-Z0-9])|(?<=[0-9])[A-Za-z]")
_ESCAPES = frozenset("nrtbfv")


_PART_OF_NAME = re.compile(r"(?:[^\W_]|[^\W][.+'_-]+)\Z")
_LONGER = re.compile(r"(?:-[\w-]*)?\.(?P<label>[^\W_][\w-]*)(?!\.[^\W_])|(?:-[\w-]*)?(?:\.[^\W_][\w-]*){2}")
_FILES = """
conf cfg ini json yaml yml toml txt csv tsv xml pem crt cer key csr log pdf png jpg svg html htm js ts xlsx docx
pptx eml msg bak tar gz zone tf tfvars ps1
"""
_EXTENSIONS = frozenset(re.findall(r"\w+", _FILES))
"""Ends of file names that are no domains: a file may be named after one."""


def begins(before: str, word: str) -> bool:
    """Return whether a word begins after the text before it: other than a letter, another case, an escape."""
    if not before or not word:
        return True
    last, first = before[-1], word[0]
    if first.isdigit():
        return not last.isdigit()
    if not is_letter(last) or not is_letter(first) or UNSPACED.match(last) or UNSPACED.match(first):
        return True
    if first.isupper() and (last.islower() or (last.isupper() and word[1:2].islower())):
        return True
    return _is_escape(before)


def ends(word: str, after: str) -> bool:
    """Return whether a word ends before the text after it."""
    if not after or not word:
        return True
    last, first = word[-1], after[0]
    if last.isdigit():
        return not first.isdigit()
    if not is_letter(first) or UNSPACED.match(last) or UNSPACED.match(first):
        return True
    return first.isupper() and (last.islower() or after[1:2].islower())


def _is_escape(before: str) -> bool:
    """Return whether a text ends in an escape like `\\n`, of which the backslash is not itself escaped."""
    if before[-1] not in _ESCAPES:
        return False
    return (len(before) - 1 - len(before[:-1].rstrip("\\"))) % 2 == 1


def _run(expression: re.Pattern[str], before: str, word: str, after: str) -> str:
    """Return a word with what it hangs together with."""
    left, right = expression.match(before[::-1]), expression.match(after)
    return (left[0][::-1] if left else "") + word + (right[0] if right else "")


def is_random(before: str, word: str, after: str) -> bool:
    """Return whether a word is a part of a digest or of encoded data, in which every short word comes about."""
    if _HEX.fullmatch(word):
        least, changes = _RANDOM_HEX
        run = _run(_HEX, before, word, after)
        if len(run) >= least and len(_CHANGES.findall(run.lower())) >= changes:
            return True
    run = _run(_RUN, before, word, after)
    return len(run) >= _RANDOM_LETTERS and 3 * len(_CHANGES.findall(run)) >= len(run)


def begins_address(before: str) -> bool:
    """Return whether the name of an address begins: `joann@` and `mary.ann@` are others than `ann@`."""
    return not before or _is_escape(before) or not _PART_OF_NAME.search(before)


def begins_domain(before: str) -> bool:
    """Return whether a domain begins; after a dot it is one with a subdomain."""
    return not before or not (before[-1].isalnum() or before[-1] == "-") or _is_escape(before)


def ends_domain(after: str) -> bool:
    """Return whether a domain ends: it does not in `corp.examples`, `corp.example.org`, `corp.example-x.org`."""
    if after and after[0].isalnum():
        return False
    longer = _LONGER.match(after)
    return not longer or (longer["label"] or "").lower() in _EXTENSIONS
