"""Publications as files: read once, and there as a whole or not at all, wherever the writing was killed."""

import errno
import os
import shutil
import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from orrery.durable import held, sync
from orrery.errors import NotFound
from orrery.ports.publications import MOST_BYTES, MOST_ENTRIES, Material, PublicationRefused

UNFINISHED = ".orrery-unfinished"
"""The folder of what is being written, until one rename puts it in its place."""

_GIT = ".git"


class PublishedFiles:
    """See `Publications`."""

    def read(self, source: Path) -> Material:
        if not os.path.lexists(source):
            raise NotFound(f"There is no file or folder {source}.")
        where = source.absolute()
        if _GIT in (part.casefold() for part in where.parts):
            raise PublicationRefused(f"{source} is git's own, and is not published.")
        reading = _Reading(where)
        if stat.S_ISDIR(where.lstat().st_mode):
            return Material(reading.folder(), is_folder=True)
        return Material({where.name: reading.file(where)})

    def check(self, folder: Path) -> None:
        if not folder.is_dir():
            raise PublicationRefused(f"The folder {folder} is missing.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PublicationRefused(f"The folder {folder} cannot be written to.")

    def write(self, material: Material, folder: Path, inside: PurePosixPath) -> None:
        target = folder / inside
        try:
            with _held(folder), _staging(folder) as staging:
                _refuse_what_is_there(target, material)
                staged = staging / "new"
                _stage(material, staged)
                target.parent.mkdir(parents=True, exist_ok=True)
                _ = staged.replace(target)
                for changed in (target.parent, folder):
                    sync(changed)
        except OSError as error:
            raise PublicationRefused(f"{target} cannot be written: {error.strerror}.") from None


class _Reading:
    """One look at what is to be published: `room` is how many bytes of it may come yet."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._room = MOST_BYTES

    def folder(self) -> Mapping[str, bytes]:
        """Return all files in the source."""
        found = {one.relative_to(self._source).as_posix(): self.file(one) for one in self._files()}
        if not found:
            raise PublicationRefused(f"There is no file in {self._source}.")
        return found

    def file(self, path: Path) -> bytes:
        """Return what is in a file; raise `PublicationRefused` for what is none."""
        with _read(path), os.fdopen(_opened(path), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PublicationRefused(f"{path} is neither a file nor a folder, and is not published.")
            content = file.read(self._room + 1)
        self._room -= len(content)
        if self._room < 0:
            most = MOST_BYTES // (1024 * 1024)
            raise PublicationRefused(f"{self._source} is larger than {most} MiB, the most at once.")
        return content

    def _files(self) -> list[Path]:
        found, seen, waiting = list[Path](), 0, [self._source]
        while waiting:
            for one, is_folder in _entries(waiting.pop()):
                seen += 1
                if seen > MOST_ENTRIES:
                    raise PublicationRefused(
                        f"{self._source} has more than {MOST_ENTRIES} files and folders, the most at once."
                    )
                (waiting if is_folder else found).append(one)
        return sorted(found)


def _entries(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield what is in a folder, and whether it is a folder; raise `PublicationRefused` for what is hidden."""
    with _read(folder), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                raise PublicationRefused(
                    f"{folder / entry.name} is hidden: nothing hidden in a folder is published."
                )
            if not entry.name.isprintable():
                raise PublicationRefused(f"A name in {folder} is not printable text: {entry.name!r}.")
            yield folder / entry.name, entry.is_dir(follow_symlinks=False)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PublicationRefused(f"{path} is a symbolic link, and is not published.") from None
        raise


@contextmanager
def _read(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise PublicationRefused(f"{path} cannot be read: {error.strerror}.") from None


@contextmanager
def _held(folder: Path) -> Generator[None]:
    """Hold a destination against other publications; a killed process releases it."""
    try:
        with held(folder):
            yield
    except BlockingIOError:
        raise PublicationRefused(f"Another command publishes to {folder}: try again when it has ended.") from None


@contextmanager
def _staging(folder: Path) -> Generator[Path]:
    """Yield a folder on the destination's disk; that of a killed publication is deleted first."""
    staging = folder / UNFINISHED
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(mode=0o700)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _refuse_what_is_there(target: Path, material: Material) -> None:
    if UNFINISHED in target.parts:
        raise PublicationRefused(f"{target} is where Orrery itself writes, and is removed.")
    if material.is_folder and os.path.lexists(target):
        raise PublicationRefused(f"{target} is there already: a folder is published under a new name.")
    if target.is_dir():
        raise PublicationRefused(f"{target} is a folder: name the file that is to be written.")


def _stage(material: Material, staged: Path) -> None:
    """Write all of it in a hidden folder, and sync it to the disk."""
    folders = {staged} if material.is_folder else set[Path]()
    for name, content in material.files.items():
        file = staged / name if material.is_folder else staged
        if material.is_folder:
            file.parent.mkdir(parents=True, exist_ok=True)
            folders |= {one for one in file.parents if staged in (one, *one.parents)}
        with file.open("xb") as written:
            _ = written.write(content)
            written.flush()
            os.fsync(written.fileno())
    for one in folders:
        sync(one)
