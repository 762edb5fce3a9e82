"""Files whose content is in git LFS: a repository has a pointer, and the content is beside it or elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.git_objects.program import GitFailed
from orrery.ports.scanned import Item, NotRead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orrery.adapters.git_objects.program import Repository

LARGEST = 1024
"""Bytes of a pointer, by its specification."""

_POINTER = re.compile(rb"version https?://\S+/(?:spec/v1|v/2)\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")


@dataclass(slots=True)
class Lfs:
    """The contents that are on this machine."""

    repository: Repository
    _store: Path | None = field(default=None, init=False)

    def content(self, place: str, name: str, pointer: bytes) -> Iterator[Item | NotRead]:
        """Yield what a file's blob points to, and nothing when it is no pointer."""
        if not (found := _POINTER.match(pointer)):
            return
        digest = found[1].decode()
        try:
            with (self._folder() / digest[:2] / digest[2:4] / digest).open("rb") as content:
                size = content.seek(0, 2)
                _ = content.seek(0)
                yield Item(f"{place} (its content in LFS)", name, size, content, is_named_elsewhere=True)
        except OSError:
            why = "its content is in LFS and not on this machine; to get it, type: git lfs fetch --all"
            yield NotRead(place, why)

    def _folder(self) -> Path:
        if self._store is None:
            try:
                chosen = self.repository.git.output("config", "--type=path", "--default=lfs", "lfs.storage")
            except GitFailed:
                chosen = b"lfs"
            self._store = Path(
                self.repository.common, chosen.decode(errors="surrogateescape").rstrip("\n"), "objects"
            )
        return self._store
