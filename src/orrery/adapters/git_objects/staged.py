"""What the next commit would change: the index against the last commit, and who commits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from orrery.adapters.git_objects.lfs import LARGEST, Lfs
from orrery.adapters.git_objects.objects import BrokenObject, objects
from orrery.adapters.git_objects.program import GitFailed, opened
from orrery.adapters.git_objects.texts import GITLINK, person
from orrery.errors import Invalid
from orrery.ports.scanned import Item, NotRead
from orrery.syntax.lines import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LINK = b"120000"
_IDENTITIES = {"author": "GIT_AUTHOR_IDENT", "committer": "GIT_COMMITTER_IDENT"}


@dataclass(frozen=True, slots=True)
class _Change:
    """A file as the commit would have it."""

    mode: bytes
    object: bytes
    is_unmerged: bool
    path: str


class Staged:
    """See `Source`. In a hook, git's variables name the index: that of `commit FILE` is another one."""

    def __init__(self, folder: Path) -> None:
        self._repository = opened(folder, is_hook=True)
        if self._repository.is_bare:
            raise Invalid(f"{visible(str(folder))} has no work tree: nothing is committed there.")
        self._git = self._repository.git
        self._place = str(folder)

    @property
    def bytes(self) -> int | None:
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def items(self) -> Iterator[Item | NotRead]:
        yield from self._people()
        try:
            changes = list(self._changes())
        except GitFailed:
            yield NotRead(self._place, "git cannot read the index; to see why, type: git status")
            return
        files = list[_Change]()
        for one in changes:
            if one.is_unmerged:
                yield NotRead(one.path, "it has a conflict; solve it, and type: git add")
            elif one.mode == GITLINK:
                yield Item(one.path, one.path, 0, BytesIO())
            else:
                files.append(one)
        if files:
            yield from self._contents(files)

    def since(self, object_id: str) -> str:
        del object_id
        return ""

    def _people(self) -> Iterator[Item | NotRead]:
        for what, variable in _IDENTITIES.items():
            place = f"the {what} of the commit"
            try:
                text = person(self._git.output("var", variable))
            except GitFailed:
                yield NotRead(place, "git does not know who commits; type: git config user.name")
            else:
                yield Item(place, "", len(text), BytesIO(text))

    def _changes(self) -> Iterator[_Change]:
        # Unlike `git diff`, this command follows no settings that hide or rename something.
        came = self._git.output(
            "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--ita-invisible-in-index", self._last(), "--"
        )
        fields = iter(came.split(b"\0"))
        for about, path in zip(fields, fields, strict=False):
            _, mode, _, name, status = about.split(b" ")
            if status != b"D":
                yield _Change(mode, name, status == b"U", os.fsdecode(path))

    def _last(self) -> str:
        """Return the last commit, or the empty tree before the first one."""
        try:
            return self._git.output("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
        except GitFailed:
            return self._git.output("hash-object", "-t", "tree", os.devnull).decode().strip()

    def _contents(self, files: list[_Change]) -> Iterator[Item | NotRead]:
        lfs = Lfs(self._repository)
        with TemporaryFile() as ids:
            ids.writelines(one.object + b"\n" for one in files)
            ids.flush()
            for one, found in zip(files, objects(self._git, ids), strict=False):
                place = one.path
                if isinstance(found, BrokenObject):
                    yield NotRead(place, found.why)
                    continue
                leads = " (where this link leads)" if one.mode == _LINK else ""
                yield Item(f"{place}{leads}", one.path, found.size, found.content)
                if found.size <= LARGEST:
                    _ = found.content.seek(0)
                    yield from lfs.content(place, one.path, found.content.read())
