"""In which commit an object came first: all are looked up at once, and only when something was found."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha1
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from orrery.adapters.git_objects.paths import Numbers
from orrery.adapters.git_objects.program import GitFailed
from orrery.adapters.git_objects.texts import short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from orrery.adapters.git_objects.program import Git

PATH = "path:"
"""What a path begins with in the place of an object's id."""


@dataclass(slots=True)
class Introductions:
    """The first commit of each object and path, among those that `revisions` name as for `git rev-list`."""

    git: Git
    revisions: tuple[str, ...]
    _commits: list[str] = field(default_factory=list[str])
    _numbers: Numbers | None = None

    def of(self, object_id: str) -> str:
        """Return a commit's id, short, and its day; nothing when no commit has the object or the path."""
        if self._numbers is None:
            self._numbers = Numbers()
            with suppress(GitFailed):  # of a broken repository some is known, and the report names it as broken
                self._fill(self._numbers)
        path = object_id.removeprefix(PATH)
        number = self._numbers.get(object_id if path == object_id else _digest(os.fsencode(path)))
        return "" if number is None else self._commits[number]

    def _fill(self, numbers: Numbers) -> None:
        with TemporaryFile() as commits:
            with self.git.running("rev-list", "--reverse", "--topo-order", *self.revisions) as listed:
                while piece := listed.output.read1():
                    _ = commits.write(piece)
            _ = commits.seek(0)
            # Of a merge `-c` shows what no parent has.
            shown = ("--stdin", "--root", "-c", "-r", "-t", "--raw", "-z", "--no-abbrev")
            with self.git.running("diff-tree", *shown, "--pretty=tformat:%H %cs", given=commits) as changed:
                self._note(_fields(changed.output), numbers)

    def _note(self, fields: Iterator[bytes], numbers: Numbers) -> None:
        for about in fields:
            change = about.lstrip(b"\n")
            if change.startswith(b":"):
                numbers.add(change.split(b" ")[-2], len(self._commits) - 1)
                numbers.add(_digest(next(fields)), len(self._commits) - 1)
            elif change:
                commit, day = change.split()
                self._commits.append(f"{short(commit.decode())} of {day.decode()}")
                numbers.add(commit, len(self._commits) - 1)


def _fields(output: BufferedReader) -> Iterator[bytes]:
    rest = b""
    while piece := output.read1():
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _digest(path: bytes) -> str:
    return sha1(path, usedforsecurity=False).hexdigest()
