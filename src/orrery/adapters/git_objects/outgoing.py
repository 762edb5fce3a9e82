"""What a push would publish: by the lines that git gives its hook on standard input."""

from __future__ import annotations

from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from orrery.adapters.git_objects.contents import Contents
from orrery.adapters.git_objects.introductions import Introductions
from orrery.adapters.git_objects.objects import objects
from orrery.adapters.git_objects.program import GitFailed, opened
from orrery.adapters.git_objects.references import reference_item
from orrery.errors import Invalid
from orrery.ports.scanned import NotRead

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from orrery.adapters.git_objects.program import Git
    from orrery.ports.scanned import Item

_FIELDS = 4


@dataclass(frozen=True, slots=True)
class _Update:
    """One reference of a push: what it becomes here, what it is called there, and what it was there."""

    object: str
    remote_reference: str
    remote_object: str


class Outgoing:
    """See `Source`: what the remote repository has already is left out. `remote` is its name, or an address."""

    def __init__(self, folder: Path, references: str, remote: str = "") -> None:
        self._repository = opened(folder, is_hook=True)
        self._git = self._repository.git
        self._place = str(folder)
        self._updates = _updates(references)
        self._contents = Contents(self._repository)
        self._introductions = Introductions(self._git, self._revisions(remote))

    @property
    def bytes(self) -> int | None:
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        return self._contents.notes

    def items(self) -> Iterator[Item | NotRead]:
        for one in self._updates:
            yield reference_item(one.remote_reference)
        with TemporaryFile() as sent:
            try:
                with self._git.running("rev-list", "--objects", *self._introductions.revisions) as running:
                    while piece := running.output.read1():
                        _ = sent.write(piece)
                    running.check()
            except GitFailed:
                why = "git cannot list what this push would send; to see why, type: git fsck"
                yield NotRead(self._place, why)
            sent.flush()
            for found in objects(self._git, sent):
                yield from self._contents.items(found, found.path)

    def since(self, object_id: str) -> str:
        return self._introductions.of(object_id)

    def _revisions(self, remote: str) -> tuple[str, ...]:
        """Return what the remote repository gets, and what it has."""
        there = [one.remote_object for one in self._updates if self._is_here(one.remote_object)]
        known = [f"--remotes={remote}"] if remote and _is_fetched_from(self._git, remote) else []
        return (*(one.object for one in self._updates), "--not", *there, *known, "--")

    def _is_here(self, object_id: str) -> bool:
        if not object_id.strip("0"):
            return False
        try:
            _ = self._git.output("cat-file", "-e", object_id)
        except GitFailed:
            return False  # somebody else pushed it: all is searched that it might have brought
        return True


def _updates(references: str) -> Sequence[_Update]:
    """Return what is not a deletion."""
    found = list[_Update]()
    for line in references.split("\n"):
        fields = line.rsplit(" ", _FIELDS - 1)
        if line and len(fields) != _FIELDS:
            raise Invalid("Standard input is not what git gives a pre-push hook: four fields on each line.")
        if line and fields[1].strip("0"):
            found.append(_Update(*fields[1:]))
    return found


def _is_fetched_from(git: Git, remote: str) -> bool:
    """Return whether the remote branches that are known here are those of the repository that is pushed to.

    What is fetched from one address and pushed to another one proves nothing about the other one.
    """
    try:
        fetched = git.output("remote", "get-url", "--all", "--", remote)
        return fetched == git.output("remote", "get-url", "--push", "--all", "--", remote)
    except GitFailed:
        return False
