"""The message of a commit that is being made, as git will keep it, and the name of its branch."""

from __future__ import annotations

import os
import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.git_objects.program import Git, GitFailed
from orrery.adapters.git_objects.references import reference_item
from orrery.errors import NotFound
from orrery.ports.scanned import Item, NotRead
from orrery.syntax.lines import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SETTINGS = r"^(core\.comment(char|string)|commit\.cleanup)$"
_SCISSORS = b" ------------------------ >8 ------------------------\n"
_AUTOMATIC = b"#;@!$%^&|:"
"""What git chooses from when core.commentChar is "auto": the first that begins no line of the message."""

_DIFF = re.compile(rb"(?:diff --|$)")


class CommitMessage:
    """See `Source`. `file` is what git gives the commit-msg hook."""

    def __init__(self, file: Path) -> None:
        try:
            self._raw = file.read_bytes()
        except OSError as error:
            raise NotFound(f"The message {visible(str(file))} cannot be read: {error.strerror}.") from None
        self._git = Git(Path(), is_hook=True)

    @property
    def bytes(self) -> int | None:
        return len(self._raw)

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def items(self) -> Iterator[Item | NotRead]:
        was_edited = os.environ.get("GIT_EDITOR") != ":"  # noqa: TID251  how git marks for its hook that no editor was open
        text = kept(self._raw, self._settings(), was_edited=was_edited)
        yield Item("the message of the commit", "", len(text), BytesIO(text))
        try:
            branch = self._git.output("symbolic-ref", "--quiet", "HEAD")
        except GitFailed:
            return  # a commit on no branch, as within a rebase
        yield reference_item(os.fsdecode(branch).removesuffix("\n"))

    def since(self, object_id: str) -> str:
        del object_id
        return ""

    def _settings(self) -> Mapping[str, bytes]:
        try:
            listed = self._git.output("config", "-z", "--get-regexp", _SETTINGS)
        except GitFailed:
            return {}  # none of them is set
        pairs = (one.partition(b"\n") for one in listed.split(b"\0") if one)
        return {name.decode().lower(): value for name, _, value in pairs}


def kept(message: bytes, settings: Mapping[str, bytes], *, was_edited: bool) -> bytes:
    """Return what git keeps of a message, or more: an option such as `--cleanup=verbatim` cannot be known.

    Without an editor git writes no comments, and a line that begins like one is the author's. A push searches the
    message as it was committed.
    """
    mode = settings.get("commit.cleanup", b"default")
    if not was_edited or mode in {b"verbatim", b"whitespace"}:
        return message
    comment = settings.get("core.commentstring") or settings.get("core.commentchar") or b"#"
    if comment == b"auto":
        comment = _automatic(message)
    above = _above_scissors(message, comment)
    if mode == b"scissors":
        return above
    return b"".join(line for line in above.splitlines(keepends=True) if not line.startswith(comment))


def _above_scissors(message: bytes, comment: bytes) -> bytes:
    """Cut where git put its line: a diff or nothing is below it. A line that a person wrote is none."""
    start = 0 if message.startswith(comment + _SCISSORS) else message.find(b"\n" + comment + _SCISSORS) + 1
    if not message.startswith(comment + _SCISSORS, start):
        return message
    below = b"".join(one for one in message[start:].splitlines(keepends=True) if not one.startswith(comment))
    return message[:start] if _DIFF.match(below.lstrip()) else message


def _automatic(message: bytes) -> bytes:
    """Return the comment character that git chose: its own lines are the last ones, above a diff."""
    for one in _AUTOMATIC:
        if bytes([one]) + _SCISSORS in message:
            return bytes([one])
    last = message.rstrip().rpartition(b"\n")[2][:1]
    return last if last and last in _AUTOMATIC else b"#"
