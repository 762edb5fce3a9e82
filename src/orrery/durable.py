"""Files that a crash leaves whole, and what one process holds at a time."""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import stamina

LOCK_SECONDS = 5.0
"""How long another process may hold a file or folder; its turn takes milliseconds."""

UNFINISHED = ".unfinished"


@contextmanager
def held(folder: Path) -> Generator[None]:
    """Hold a folder in the block, however its process ends; raise `BlockingIOError` while another holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


@stamina.retry(on=BlockingIOError, attempts=None, timeout=LOCK_SECONDS, wait_initial=0.01, wait_max=0.1)
def hold(descriptor: int) -> None:
    """Wait for an open file or folder, and hold it until it is closed, however its process ends.

    Raises `BlockingIOError` when another holds it for longer than `LOCK_SECONDS`.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace(path: Path, content: bytes, mode: int = 0o600, owner: tuple[int, int] | None = None) -> None:
    """Write a file as a whole: a kill leaves the old or the new one, and a power cut after it the new one.

    Its folder is held: what a killed write left has the same name each time, and is deleted first, so neither its
    mode nor another name of it counts. The `owner` is user and group; without one, those of this process.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    unfinished.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            if owner:
                os.fchown(file.fileno(), *owner)
            _ = file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _ = unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    sync(path.parent)


def require_place(path: Path) -> None:
    """Raise `OSError` when no file can be written there."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    code = errno.EACCES if path.parent.is_dir() else errno.ENOENT
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OSError(code, os.strerror(code))


def sync(folder: Path) -> None:
    """Make the names in a folder last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
