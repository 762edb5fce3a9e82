"""The difference between the files of the recovery and those on the host. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Literal

from orrery.gateway.guest.files import HostFile
from orrery.gateway.guest.observed import StoredFile


@dataclass(frozen=True, slots=True)
class FileChange:
    """What writing a file would do: `new`, `changed` or `same`, and the difference as text."""

    path: str
    change: Literal["new", "changed", "same"]
    diff: str


def file_change(file: HostFile, stored: StoredFile | None) -> FileChange:
    if stored is None:
        return FileChange(file.path, "new", _diff("", file.text, "/dev/null", file.path))
    diff = _diff(stored.content.decode("utf-8", "replace"), file.text, file.path, file.path)
    notes = "".join(f"# {file.path}: {note}\n" for note in _notes(file, stored))
    if not notes and stored.content == file.text.encode():
        return FileChange(file.path, "same", "")
    return FileChange(file.path, "changed", notes + diff)


def _notes(file: HostFile, stored: StoredFile) -> Iterator[str]:
    if stored.is_link:
        yield "a link, which is replaced by a file"
        return
    if stored.mode != file.mode:
        yield f"mode {stored.mode:04o} -> {file.mode:04o}"
    if not stored.is_roots:
        yield "owner -> root:root"


def _diff(before: str, after: str, old: str, new: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "".join(f"{line}\n" for line in lines)
