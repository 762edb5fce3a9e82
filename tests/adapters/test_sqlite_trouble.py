"""What is told of a store file that cannot be used."""

import errno
import os
from pathlib import Path

import apsw

from orrery.adapters.sqlite.trouble import unavailable
from tests.support.tables import each_case


@each_case(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "not mounted read-only"),
        (errno.EACCES, "this user may write it"),
        (errno.ENOENT, "is gone"),
        (errno.EIO, "could not be used"),
    ],
)
def test_an_error_of_the_system(code: int, sentence: str) -> None:
    """What the system says is told by what to do about it, and the file is named."""
    said = str(unavailable(Path("/data/orrery.db"), OSError(code, os.strerror(code))))
    assert said.startswith("The store file orrery.db ")
    assert sentence in said


@each_case(
    ("code", "sentence"),
    [
        (apsw.SQLITE_FULL, "the disk is full"),
        (apsw.SQLITE_IOERR_SHMSIZE, "the disk is full"),
        (apsw.SQLITE_IOERR_FSYNC, "had a disk error"),
        (apsw.SQLITE_READONLY_DIRECTORY, "not mounted read-only"),
        (apsw.SQLITE_BUSY, "locked by another process"),
    ],
)
def test_an_error_of_the_database(code: int, sentence: str) -> None:
    """What the database says is told by what to do about it, with its own name for it."""
    said = str(unavailable(Path("/data/orrery.db"), apsw.exception_for(code)))
    assert sentence in said
    assert "SQLITE_" in said
