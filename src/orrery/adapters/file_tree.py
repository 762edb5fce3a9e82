"""Files and folders as a source of the scanner: as they are on the disk, without following links."""

from __future__ import annotations

import os
import stat
from io import BufferedReader, BytesIO, RawIOBase
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from orrery.errors import Invalid, NotFound
from orrery.ports.scanned import Item, NotRead
from orrery.syntax.lines import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from _typeshed import WriteableBuffer

SORTED = 10_000
"""Entries of a folder that are sorted at once: that of a larger one begins before all are listed."""

BUFFER = 256 * 1024
"""Bytes of a file that are read at once."""

_GIT = ".git"
_IN_A_REPOSITORY = frozenset({"HEAD", "objects", "refs"})
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class FileTree:
    """See `Source`. A path that is given may be a link; links below it are not followed.

    `repositories` are the folders found whose history is in the way git stores it: a `History` reads those.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        for path in paths:
            _check(path)
        self._paths = paths
        self.repositories = list[str]()

    @property
    def bytes(self) -> int | None:
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.repositories:
            return ()
        few = (
            f"{len(self.repositories)} folders are repositories"
            if len(self.repositories) > 1
            else "A folder is a repository"
        )
        return (f"{few}, with a history that was not searched: type `orrery tenants scan --history FOLDER`",)

    def items(self) -> Iterator[Item | NotRead]:
        for path in self._paths:
            if path.is_dir():
                yield from self._below(path)
            else:
                yield from _read(str(path), path.name, os.O_RDONLY if path.exists() else os.O_NOFOLLOW)

    def since(self, object_id: str) -> str:
        del object_id
        return ""

    def _below(self, root: Path) -> Iterator[Item | NotRead]:
        """Yield what is in a folder: a loop, because folders may be nested deeper than calls."""
        start = "" if str(root) == "." else f"{str(root).rstrip('/')}/"
        opened = [_listed(str(root))]
        while opened:
            entry = next(opened[-1], None)
            if entry is None:
                _ = opened.pop()
            elif isinstance(entry, NotRead):
                yield entry
            elif entry.name == _GIT:
                self.repositories.append(os.path.dirname(entry.path))  # noqa: PTH120  a Path takes ten times as long
            elif not _is_folder(entry):
                yield from _read(entry.path, entry.path.removeprefix(start).removeprefix("./"))
            elif _is_repository(entry.path):
                self.repositories.append(entry.path)
            else:
                opened.append(_listed(entry.path))
                yield _text(entry.path, entry.path.removeprefix(start).removeprefix("./"), b"")


def _check(path: Path) -> None:
    """Raise `NotFound` for what does not exist, and `Invalid` for what is no file to be searched."""
    try:
        _ = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"There is no file or folder {visible(str(path))}.") from None
    except OSError as error:
        raise Invalid(f"{visible(str(path))} cannot be read: {error.strerror}.") from None
    if path.is_dir() and (path.absolute().name == _GIT or _is_repository(str(path))):
        raise Invalid(
            f"{visible(str(path))} is git's own folder, where files are compressed: "
            f"type `orrery tenants scan --history {visible(str(path))}`"
        )


def _is_repository(folder: str) -> bool:
    """Return whether a folder is a repository without a work tree: its files are compressed."""
    return all(os.path.lexists(f"{folder}/{name}") for name in _IN_A_REPOSITORY)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False  # its reader reports why it cannot be read


def _listed(folder: str) -> Iterator[os.DirEntry[str] | NotRead]:
    try:
        with os.scandir(folder) as entries:
            while some := sorted(islice(entries, SORTED), key=attrgetter("name")):
                yield from some
    except OSError as error:
        yield NotRead(folder, f"the folder cannot be read: {error.strerror}")


def _read(path: str, name: str, follow: int = os.O_NOFOLLOW) -> Iterator[Item | NotRead]:
    place = path.removeprefix("./")
    try:
        status = os.stat(path, follow_symlinks=not follow & os.O_NOFOLLOW)  # noqa: PTH116  as above
        if stat.S_ISLNK(status.st_mode):
            yield _text(f"{path} (where this link leads)", name, os.fsencode(os.readlink(path)))  # noqa: PTH115  a path that is no text
            return
        if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
            yield NotRead(place, f"it is {kind}, and not a file")
            return
        # It may have become a pipe since: opening it must not wait for another program.
        descriptor = os.open(path, follow | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        yield NotRead(place, f"it cannot be read: {error.strerror}")
        return
    with _AsOpened(descriptor) as opened:
        yield Item(place, name, opened.size, BufferedReader(opened, BUFFER))
        if opened.trouble:
            yield NotRead(place, opened.trouble)


def _text(path: str, name: str, text: bytes) -> Item:
    return Item(path.removeprefix("./"), name, len(text), BytesIO(text))


class _AsOpened(RawIOBase):
    """A file as long as it was when it was opened: one that grows has an end, and an error stops no scan."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._at = 0
        self.size = os.fstat(descriptor).st_size
        self.trouble = "" if self.size else self._hidden()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer)[: max(0, self.size - self._at)]
        if not room:
            return 0
        try:
            read = os.preadv(self._descriptor, [room], self._at)
        except OSError as error:
            self.trouble = f"it cannot be read: {error.strerror}"
            return 0
        if not read:
            self.trouble = "it became shorter while it was read"
        self._at += read
        return read

    def _hidden(self) -> str:
        """Return what is wrong with a file whose size is given as 0 and which is not empty, as in `/proc`."""
        try:
            return "its size is unknown" if os.pread(self._descriptor, 1, 0) else ""
        except OSError as error:
            return f"it cannot be read: {error.strerror}"

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        if start + offset < 0:
            raise OSError(f"There is nothing before the start of a file ({offset}).")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()
