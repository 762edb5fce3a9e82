"""All that a repository holds: also what only an old commit, or no commit any more, has."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from orrery.adapters.git_objects.contents import Contents
from orrery.adapters.git_objects.introductions import Introductions
from orrery.adapters.git_objects.objects import objects
from orrery.adapters.git_objects.paths import Paths
from orrery.adapters.git_objects.program import Git, GitFailed, opened
from orrery.adapters.git_objects.references import reference_item
from orrery.ports.scanned import NotRead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orrery.ports.scanned import Item

_EVERYTHING = ("--all", "--reflog", "--indexed-objects")
_FSCK = "some of it is missing or broken; to see what, type: git fsck"


@dataclass(frozen=True, slots=True)
class _Listing:
    """Every object that is here, in the order of the packs; `bytes` are those of the items."""

    ids: IO[bytes]
    bytes: int
    is_whole: bool


class History:
    """See `Source`."""

    def __init__(self, folder: Path) -> None:
        self._repository = opened(folder)
        self._git = self._repository.git
        self._place = str(folder)
        self._contents = Contents(self._repository)
        self._introductions = Introductions(self._git, ("--all",))

    @property
    def bytes(self) -> int | None:
        return self._listing.bytes

    @property
    def notes(self) -> tuple[str, ...]:
        return self._contents.notes

    def items(self) -> Iterator[Item | NotRead]:
        if self._repository.is_shallow:
            why = "this clone is shallow: the older history is not here; to get it, type: git fetch --unshallow"
            yield NotRead(self._place, why)
        yield from self._references()
        if not self._listing.is_whole:
            yield NotRead(self._place, f"git cannot list what is in this repository: {_FSCK}")
        with TemporaryFile() as walked, self._listing.ids as ids:
            yield from self._walk(walked)
            paths = Paths(walked)
            for found in objects(self._git, ids):
                yield from self._contents.items(found, paths.of(found.id))

    def since(self, object_id: str) -> str:
        return self._introductions.of(object_id)

    def _references(self) -> Iterator[Item | NotRead]:
        try:
            listed = self._git.output("for-each-ref", "--format=%(refname)")
        except GitFailed:
            yield NotRead(self._place, f"git cannot list the names of its branches and tags: {_FSCK}")
            return
        for line in listed.splitlines():
            yield reference_item(os.fsdecode(line))

    @cached_property
    def _listing(self) -> _Listing:
        ids, size, is_whole = TemporaryFile(), 0, True  # noqa: SIM115  `items` closes it
        shown = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        try:
            with self._git.running("cat-file", "--batch-all-objects", "--unordered", shown) as running:
                for line in running.output:
                    name, kind, *about = line.split()
                    _ = ids.write(name + b"\n")
                    if about and kind != b"tree":
                        size += int(about[0])
                running.check()
        except GitFailed:
            is_whole = False
        ids.flush()
        return _Listing(ids, size, is_whole)

    def _walk(self, walked: IO[bytes]) -> Iterator[NotRead]:
        """Write the path of each object to a file; yield what is wrong with the history."""
        missing = 0
        try:
            with self._git.running("rev-list", "--objects", "--missing=print", *_EVERYTHING) as running:
                for line in running.output:
                    if line.startswith(b"?"):
                        missing += 1
                    else:
                        _ = walked.write(line)
                running.check()
        except GitFailed:
            yield NotRead(self._place, f"git cannot walk its history: {_FSCK}")
        if missing:
            yield NotRead(self._place, f"{missing} objects are not here: {_how_to_get(self._git)}")


def _how_to_get(git: Git) -> str:
    try:
        is_partial = git.output("config", "--get-regexp", r"^remote\..*\.promisor$")
    except GitFailed:
        is_partial = b""  # no remote repository is one that objects are fetched from
    if is_partial:
        return "this clone is partial; clone the repository without --filter"
    return "this repository is broken; to see more, type: git fsck"
