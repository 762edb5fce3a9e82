"""Objects as items: what a person wrote in them, each at a place that a person knows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from orrery.adapters.git_objects.introductions import PATH
from orrery.adapters.git_objects.lfs import LARGEST, Lfs
from orrery.adapters.git_objects.objects import BrokenObject, StoredObject
from orrery.adapters.git_objects.texts import GITLINK, commit_texts, person, short, tree_entries
from orrery.ports.scanned import Item, NotRead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orrery.adapters.git_objects.program import Repository

MOST_REMEMBERED = 200_000
"""Names of files, and people, that are searched once; with more of them some are searched again."""


@dataclass(slots=True)
class Contents:
    """Makes the items. Names of files and people are there once each; `submodules` are paths."""

    repository: Repository
    most_remembered: int = MOST_REMEMBERED
    submodules: dict[str, None] = field(default_factory=dict[str, None])
    _lfs: Lfs = field(init=False)
    _names: dict[str | None, set[bytes]] = field(default_factory=dict[str | None, set[bytes]])
    _people: set[bytes] = field(default_factory=set[bytes])
    _remembered: int = 0

    def __post_init__(self) -> None:
        self._lfs = Lfs(self.repository)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about what is not in this repository; it repeats no name, which may be watched for."""
        if not self.submodules:
            return ()
        return (f"Submodules ({len(self.submodules)}) are separate repositories, and were not searched",)

    def items(self, found: StoredObject | BrokenObject, path: str | None) -> Iterator[Item | NotRead]:
        """Yield what is in an object; `path` is None for one that no branch has."""
        if isinstance(found, BrokenObject):
            of_path = f" ({path})" if path else ""
            yield NotRead(f"the object {short(found.id)}{of_path}", found.why)
        elif found.kind == "blob":
            yield from self._blob(found, path)
        elif found.kind == "tree":
            yield from self._tree(found, path)
        elif found.kind == "commit":
            yield from self._commit(found)
        else:
            yield _tag(found)

    def _blob(self, found: StoredObject, path: str | None) -> Iterator[Item | NotRead]:
        place = f"the blob {short(found.id)}" if path is None else path
        yield Item(place, path or "", found.size, found.content, found.id, is_named_elsewhere=True)
        if found.size <= LARGEST:
            _ = found.content.seek(0)
            yield from self._lfs.content(place, path or "", found.content.read())

    def _tree(self, found: StoredObject, folder: str | None) -> Iterator[Item]:
        entries = tree_entries(found.content.read(), self.repository.digits)
        known = self._names.setdefault(folder, set())
        if known.issuperset(entries):
            return
        start = f"{folder}/" if folder else ""
        for entry in sorted(set(entries) - known):
            mode, _, name = entry.partition(b" ")
            path = start + os.fsdecode(name)
            if mode == GITLINK:
                self.submodules[path] = None
            first = found.id if folder is None else f"{PATH}{path}"
            yield Item(path, path, 0, BytesIO(), first)
        known.update(entries)
        self._remember(len(entries))

    def _commit(self, found: StoredObject) -> Iterator[Item]:
        texts = commit_texts(found.content.read())
        for what, text in (("author", texts.author), ("committer", texts.committer)):
            if (known := person(text)) not in self._people:
                self._people.add(known)
                self._remember(1)
                yield _text(f"the {what} of {short(found.id)}", known, found.id)
        if texts.header:
            yield _text(f"the header of {short(found.id)}", texts.header, found.id)
        yield _text(f"the message of {short(found.id)}", texts.message, found.id, found.size)

    def _remember(self, more: int) -> None:
        self._remembered += more
        if self._remembered > self.most_remembered:
            self._names.clear()
            self._people.clear()
            self._remembered = 0


def _text(place: str, text: bytes, object_id: str, size: int = 0) -> Item:
    return Item(place, "", size, BytesIO(text), object_id)


def _tag(found: StoredObject) -> Item:
    raw = found.content.read()
    name = raw.partition(b"\ntag ")[2].partition(b"\n")[0]
    return Item(f"the tag {os.fsdecode(name)}", "", found.size, BytesIO(raw), found.id)
