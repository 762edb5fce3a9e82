"""Folders for what is not finished: one process has each, and what a killed one left in it is no trouble."""

import errno
import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def working_folder(path: Path) -> Generator[Path]:
    """Hold a folder for unfinished files, without those of a killed process; it is deleted in the end.

    Raises `BlockingIOError` while another process holds it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _refuse_deleted(held, path)
        try:
            for left in path.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(held)


def _refuse_deleted(held: int, path: Path) -> None:
    """Raise `BlockingIOError` for a folder that its holder deleted just before it was held here."""
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(held), path.stat()):
            return
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
