"""SQLite's errors as sentences, with what the owner can do."""

import errno
from pathlib import Path

import apsw

from orrery.errors import OutcomeUnknown, StoreUnavailable

_LOCKED = "is locked by another process for too long: see who holds it, then try again"
_FULL = "could not grow, because the disk is full: make room, then try again"
_DAMAGED = "is damaged or no store at all: put a sound snapshot in its place with `orrery restore`"
_REFUSED = "could not be opened or written: see that it exists and that this user may write it and its directory"
_READ_ONLY = (
    "cannot be written: "
    "see that its disk is not mounted read-only, and that this user may write it and its directory"
)
_GONE = "is gone: put it back, or stop the service and bring a snapshot back with `orrery restore`"
_DISK = "had a disk error: check the disk, which may be mounted read-only since then"

_SENTENCES: dict[type[Exception], str] = {
    apsw.BusyError: _LOCKED,
    apsw.LockedError: _LOCKED,
    apsw.ProtocolError: _LOCKED,  # the locks of the log's index
    apsw.FullError: _FULL,
    apsw.CorruptError: _DAMAGED,
    apsw.NotADBError: _DAMAGED,
    apsw.SQLError: _DAMAGED,  # a table is missing
    apsw.CantOpenError: _REFUSED,
    apsw.PermissionsError: _REFUSED,
    apsw.ReadOnlyError: _READ_ONLY,
    apsw.AuthError: _REFUSED,
    apsw.IOError: _DISK,
    apsw.TooBigError: "was asked to keep a value larger than it can hold",
    FileNotFoundError: _GONE,
    PermissionError: _REFUSED,
    NotADirectoryError: _REFUSED,
}

_CODES = {
    apsw.SQLITE_IOERR_SHMSIZE: _FULL,  # the log's index cannot grow
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _READ_ONLY,
}
"""The sentences for error codes that are more exact than their types. SQLite's codes begin above the system's."""


def unavailable(path: Path, error: Exception) -> StoreUnavailable:
    """Return the error that nothing was stored; it names the file, and nothing of its contents."""
    if isinstance(error, StoreUnavailable):
        return error
    what = _CODES.get(_code(error)) or _SENTENCES.get(type(error), "could not be used")
    return StoreUnavailable(f"The store file {path.name} {what} ({_name(error)}).")


def overwritten(path: Path) -> StoreUnavailable:
    """Return the error that another program wrote over the log in which the newest commits are."""
    return StoreUnavailable(f"The store file {path.name} {_DAMAGED} (its log was written over).")


def lost(path: Path, error: Exception, commit_id: str) -> OutcomeUnknown:
    """Return the error that a commit may or may not be stored."""
    learn = "" if isinstance(error, StoreUnavailable) else ": repeat it with the same id to learn"
    sentence = f"{unavailable(path, error)} Whether the newest commits are in it is not known{learn}."
    return OutcomeUnknown(sentence, commit_id)


def _code(error: Exception) -> int:
    if isinstance(error, OSError):
        return error.errno or 0
    return getattr(error, "extendedresult", 0)  # the stubs do not know this attribute of apsw.Error


def _name(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    names = {**apsw.mapping_result_codes, **apsw.mapping_extended_result_codes}
    return str(names.get(_code(error), type(error).__name__))
