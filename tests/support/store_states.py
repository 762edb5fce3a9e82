"""What may be found at the path of a store: each state of the file, and what must be said of it."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileState:
    """A state of the file that a sound, closed store is brought into, and the sentence of every command.

    `missing`: the commands call it a wrong setting. `restorable`: a restore heals it.
    """

    bring: Callable[[Path], object]
    sentence: str
    missing: bool = False
    restorable: bool = True


def _run(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def _other_program(path: Path) -> None:
    path.unlink()
    _run(path, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('a')")


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _log_alone(path: Path) -> None:
    path.rename(path.with_name("aside.db"))
    log(path).write_bytes(b"\x37\x7f\x06\x82" * 1000)


def _log_of_another(path: Path) -> None:
    leave_log(path.with_name("other.db"), path, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('a')")


def _snapshot_by_hand(path: Path) -> None:
    """Copy a snapshot over a store that was killed, as `cp` does: its log stays."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("VACUUM INTO ?", (str(path.with_name("copy.db")),))
    leave_log(path, path, "DELETE FROM commits WHERE version = 1")
    path.write_bytes(path.with_name("copy.db").read_bytes())


def leave_log(source: Path, path: Path, *statements: str) -> None:
    """Have the log of some statements at another file beside the one at `path`."""
    with closing(sqlite3.connect(source, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = wal")
        for statement in statements:
            database.execute(statement)
        shutil.copy(log(source), path.with_name("kept"))
    path.with_name("kept").rename(log(path))


def log(path: Path) -> Path:
    """Return where the log of a file is."""
    return path.with_name(f"{path.name}-wal")


_DAMAGED = "is damaged or no store at all: put a sound snapshot in its place with `orrery restore`"
_FOREIGN = "is not an Orrery store: check the path, or put a sound snapshot in its place with `orrery restore`"
_GONE = "There is no store at"
_LOG = "-wal does not belong to the store file"
_EMPTIED = "The store was emptied by another program: stop the service, and bring a snapshot back"

STATES = {
    "another program's": FileState(_other_program, _FOREIGN),
    "a text": FileState(lambda path: path.write_text("a text\n" * 1000), _DAMAGED),
    "empty": FileState(lambda path: path.write_bytes(b""), _FOREIGN),
    "a directory": FileState(_directory, "because a directory or a device has its path", restorable=False),
    "gone": FileState(Path.unlink, _GONE, missing=True),
    "a broken link": FileState(lambda path: (path.unlink(), path.symlink_to("nowhere")), _GONE, missing=True),
    "a log alone": FileState(_log_alone, "is gone, but", missing=True),
    "another program's log": FileState(_log_of_another, _LOG),
    "a snapshot copied over it": FileState(_snapshot_by_hand, _LOG),
    "a log written over": FileState(lambda path: log(path).write_bytes(b"\xa5" * 9000), "log was written over"),
    "emptied": FileState(lambda path: _run(path, "DELETE FROM entries"), _EMPTIED),
    "emptied wholly": FileState(lambda path: _run(path, "DELETE FROM entries", "DELETE FROM commits"), _EMPTIED),
    "without its key": FileState(
        lambda path: _run(path, "DELETE FROM entries WHERE key = CAST('index-key' AS BLOB)"), _EMPTIED
    ),
    "without entries": FileState(lambda path: _run(path, "DROP TABLE entries"), _DAMAGED),
    "without commits": FileState(lambda path: _run(path, "DROP TABLE commits"), _DAMAGED),
    "cut in half": FileState(lambda path: os.truncate(path, path.stat().st_size // 2), _DAMAGED),
    "cut in its header": FileState(lambda path: os.truncate(path, 50), _FOREIGN),
    "a newer release's": FileState(
        lambda path: _run(path, "PRAGMA user_version = 2"), "run the release that wrote it"
    ),
}
