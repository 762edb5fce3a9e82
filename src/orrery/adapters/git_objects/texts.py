"""The texts of a commit and of a tree, from their raw forms."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

SHORT = 10
"""Digits of an object's id in a report."""

GITLINK = b"160000"
"""The mode of a submodule: its entry names a commit of another repository."""

_STRUCTURE = (b"tree ", b"parent ", b"author ", b"committer ")


def short(object_id: str) -> str:
    """Return an object's id as a report has it."""
    return object_id[:SHORT]


@dataclass(frozen=True, slots=True)
class CommitTexts:
    """What people wrote in a commit: `header` is what else it has, such as a signature or a merged tag."""

    author: bytes
    committer: bytes
    header: bytes
    message: bytes


def commit_texts(raw: bytes) -> CommitTexts:
    """Return the texts of a commit; one in an encoding that is named is there as UTF-8, too."""
    head, _, message = raw.partition(b"\n\n")
    lines = head.split(b"\n")
    encoding = _value(lines, b"encoding ").decode("ascii", "replace")
    rest = b"\n".join(line for line in lines if not line.startswith(_STRUCTURE))
    texts = (_value(lines, b"author "), _value(lines, b"committer "), rest, message)
    return CommitTexts(*(_with_utf8(text, encoding) for text in texts))


def _value(lines: Sequence[bytes], key: bytes) -> bytes:
    return next((line.removeprefix(key) for line in lines if line.startswith(key)), b"")


def _with_utf8(text: bytes, encoding: str) -> bytes:
    if not encoding or text.isascii():
        return text
    try:
        return text + b"\n" + text.decode(encoding, "replace").encode()
    except (LookupError, ValueError):
        return text


def person(identity: bytes) -> bytes:
    """Return a name and address without the time behind them."""
    return identity[: identity.rfind(b">") + 1] or identity


def tree_entries(raw: bytes, digits: int) -> list[bytes]:
    """Return the entries of a tree, each a mode, a space and a name."""
    return _ENTRY_ENDS[digits].split(raw)[:-1]


_ENTRY_ENDS = {digits: re.compile(rb"\0.{%d}" % (digits // 2), re.DOTALL) for digits in (40, 64)}
