"""The file on disk: created only on request, whole or not at all; opened with the promised durability; shared."""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from orrery.adapters.sqlite.database import Database, connect, first_bytes, leave_log
from orrery.adapters.sqlite.trouble import overwritten, unavailable
from orrery.errors import Invalid, NoStore, StoreMissing, StoreUnavailable

APPLICATION_ID = 0x4F727279
"""The four bytes ``Orry`` in the file's header: this is one of ours."""

CLOSED_ID = 0x4F727263
"""``Orrc``, for a store that no process may open: a release that does not know it refuses the file, too."""

SCHEMA_VERSION = 1

_LOG_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""The first bytes of a log (SQLite's file format, section 4.1)."""

_NO_LOG = (b"", b"\0\0\0\0")
"""The first bytes of a log that holds no commit: a power cut may leave one that is all zeros."""

_MODE, _ID = slice(18, 20), slice(68, 72)
"""The positions in a file's header of its journal mode and of its application id."""

_WITHOUT_LOG = b"\x01\x01"

_FIXED = (slice(0, 16), _MODE, slice(40, 44), slice(60, 64), _ID)
"""What does not change in the header of a store in use: SQLite's magic, the journal mode, the schema's number and
version, the application's id (SQLite's file format, section 1.3)."""

_NO_HANDLES = (errno.EMFILE, errno.ENFILE)

BUSY_TIMEOUT = timedelta(seconds=5)
"""How long a commit waits for another process's transaction."""

# Times are microseconds since 1970. AUTOINCREMENT is what keeps a version from ever being given out twice.
SCHEMA = f"""
CREATE TABLE entries (
  key BLOB NOT NULL PRIMARY KEY,
  value BLOB NOT NULL,
  version INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE commits (
  version INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE,
  committed_at INTEGER NOT NULL
) STRICT;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


class StoreFile:
    """A store file that this process uses: no restore can replace it until `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = str(log_of(path))
        require_store(path)  # before anything is made beside it: in a wrong folder nothing is left behind
        verify_own_log(path)
        with ExitStack() as undo:
            self._hold = undo.enter_context(share(path))
            self._identity = _identity(path)
            self._least, self._header = 0, b""
            _ = undo.pop_all()

    def connect(self, busy_timeout: timedelta) -> Database:
        """Open another connection whose commits are on the disk when they return."""
        self.verify_in_place()
        database = connect(self.path, busy_timeout)
        verify_ours(self.path, database)
        make_durable(database)
        self._header = self._header or _fixed(self.path)
        return database

    def verify_in_place(self) -> None:
        """Raise while the file is not at its path, or is shorter than before: writes to it are lost."""
        least = self._least  # another thread may know of a longer one by the time that the file is asked
        found = self.path.stat()
        if (found.st_dev, found.st_ino) != self._identity:
            raise self._changed("replaced")
        if found.st_size < least:
            raise self._changed("cut short")
        self._least = found.st_size

    def verify_header(self) -> None:
        """Raise when something else was written over the file."""
        self.verify_in_place()
        if _fixed(self.path) != self._header:
            raise self._changed("written over")

    def _changed(self, how: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"The store file {self.path.name} was {how} while it was in use: "
            "restart what uses it, or bring a snapshot back with `orrery restore`."
        )

    def verify_log(self) -> None:
        """Raise `StoreUnavailable` unless the log of a commit that this process just made can be read again.

        SQLite reads the log's first bytes when it opens the file and never after: a commit that is appended to an
        overwritten log is readable until the last process closes the log, and lost then.
        """
        try:
            magic = _beginning(self._log)
        except OSError as error:
            if error.errno in _NO_HANDLES:  # no fault of the log, and the commit is in it
                return
            raise
        if magic and magic not in _LOG_MAGIC:  # a checkpoint may have emptied it
            raise overwritten(self.path)

    def close(self) -> None:
        """Let others restore."""
        self._hold.close()


def _beginning(file: str) -> bytes:
    """Return the first four bytes, by the bare calls: this is done once a commit."""
    handle = os.open(file, os.O_RDONLY)
    try:
        return os.pread(handle, 4, 0)
    finally:
        os.close(handle)


def _fixed(path: Path) -> bytes:
    header = first_bytes(path)
    return b"".join(header[part] for part in _FIXED)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def log_of(path: Path) -> Path:
    """Return where SQLite keeps the commits that are not yet in the file at `path`."""
    return path.with_name(f"{path.name}-wal")


def lock_of(path: Path) -> Path:
    """Return the lock file by which processes that use the store at `path` keep a restore out."""
    return path.with_name(f"{path.name}.lock")


def require_store(path: Path) -> None:
    """Raise `StoreMissing` where there is no file: a store that is lost must not become an empty one."""
    try:
        orphaned = log_of(path).exists()  # asked first: what makes or restores a store puts its file there first
        if path.is_file():
            return
        if path.exists():
            raise StoreUnavailable(
                f"The store file {path.name} could not be opened, because a directory or a device has its path: "
                "move that away, or correct the path."
            )
    except OSError as error:  # such as a directory that this user may not search
        raise unavailable(path, error) from error
    if orphaned:
        raise _gone(path)
    if moved(path).exists():
        raise StoreMissing(
            f"The store at {path} was moved by `orrery store copy`: name its new place in the settings. "
            f"{moved(path).name} holds what it was."
        )
    raise NoStore(
        f"There is no store at {path}: make one with `orrery store create` "
        "(`orrery cockpit store create` for the cockpit's), or bring one back with `orrery restore`."
    )


def moved(path: Path) -> Path:
    """Return where a store is kept that was copied elsewhere."""
    return path.with_name(f"{path.name}.moved")


def _gone(path: Path) -> StoreMissing:
    """Return the error for a log without its file: it would be read into whatever takes the file's name."""
    return StoreMissing(
        f"The store file {path} is gone, but {path.name}-wal is there: "
        "put the file back, or bring a snapshot back with `orrery restore`."
    )


def create(path: Path) -> None:
    """Make an empty store at `path`: 0600, in directories that are made 0700.

    Raises `Invalid` where a file is already, `StoreMissing` where only a log is left of one, and
    `StoreUnavailable` when it cannot be written; no half store is left then.
    """
    with on_disk_of(path), share(path):
        if log_of(path).exists() and not path.exists():
            raise _gone(path)
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
            new = Path(scratch, "new")
            _build(new)
            try:
                path.hardlink_to(new)
            except FileExistsError:
                raise Invalid(f"There is a file at {path} already: nothing was made.") from None
        sync(path.parent)


@contextmanager
def on_disk_of(target: Path) -> Generator[None, None, None]:
    """Have a directory for `target`, and translate what goes wrong in it."""
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except UnicodeEncodeError:
        raise Invalid(
            "SQLite takes no file whose path holds bytes that are no text: give it another name."
        ) from None
    except (apsw.Error, OSError) as error:
        raise unavailable(target, error) from error


def _build(path: Path) -> None:
    create_private(path)
    with closing(connect(path, BUSY_TIMEOUT)) as database:
        make_durable(database)
        _ = database.execute(SCHEMA)


def make_durable(database: Database) -> None:
    """Have every commit on the disk before it returns, readers beside the writer, and erased data gone."""
    _ = database.pragma("journal_mode", "wal")
    _ = database.pragma("synchronous", "full")
    _ = database.pragma("secure_delete", 1)  # else erased data stays in the file's free space


def verify_ours(path: Path, database: Database, *, may_be_closed: bool = False) -> None:
    """Raise `StoreUnavailable` unless the file is a store that this release can read; nothing is changed then."""
    try:
        _verify(path, database, may_be_closed=may_be_closed)
    except (apsw.Error, StoreUnavailable):
        if _magic_of_log(path) not in _NO_LOG:
            leave_log(database)  # it may be the log that is not ours
        raise


def _verify(path: Path, database: Database, *, may_be_closed: bool) -> None:
    application = database.pragma("application_id")
    if application == CLOSED_ID and not may_be_closed:
        raise StoreUnavailable(f"The store in the file {path.name} is closed: {why_closed(database)}.")
    if application not in (APPLICATION_ID, CLOSED_ID):
        if first_bytes(path)[_ID] == APPLICATION_ID.to_bytes(4):
            raise _foreign_log(path)
        raise StoreUnavailable(
            f"The file {path.name} is not an Orrery store: check the path, "
            "or put a sound snapshot in its place with `orrery restore`."
        )
    found = database.pragma("user_version")
    if found != SCHEMA_VERSION:
        raise StoreUnavailable(
            f"The store file {path.name} has schema version {found}, and this release reads {SCHEMA_VERSION}: "
            "run the release that wrote it."
        )
    _ = database.execute("SELECT 1 FROM entries, commits LIMIT 0")  # are both there?


def why_closed(database: Database) -> str | None:
    """Return why no process may open the store, None for one that is open."""
    if database.pragma("application_id") == APPLICATION_ID:
        return None
    return str(database.execute("SELECT why FROM closed").get)


def open_sound(path: Path, *, may_be_closed: bool = False) -> Database:
    """Open a store that holds no damage; raise `StoreUnavailable`."""
    try:
        verify_own_log(path)
        database = connect(path, BUSY_TIMEOUT)
        verify_ours(path, database, may_be_closed=may_be_closed)
        found = database.execute("PRAGMA integrity_check(1)").get
    except apsw.Error as error:
        raise unavailable(path, error) from error
    if found != "ok":
        raise StoreUnavailable(f"The store file {path.name} is damaged: use an earlier snapshot.")
    return database


def verify_own_log(path: Path) -> None:
    """Raise `StoreUnavailable` when the log beside a file was written over, or for another file.

    SQLite would read the one as empty, and the other into the file. The header of a
    snapshot that was copied over a store has the mode without a log.
    """
    magic = _magic_of_log(path)
    if magic in _NO_LOG:
        return
    if magic not in _LOG_MAGIC:
        raise overwritten(path)
    if first_bytes(path)[_MODE] == _WITHOUT_LOG:
        raise _foreign_log(path)


def _magic_of_log(path: Path) -> bytes:
    try:
        return _beginning(str(log_of(path)))
    except FileNotFoundError:
        return b""


def _foreign_log(path: Path) -> StoreUnavailable:
    return StoreUnavailable(
        f"The log {path.name}-wal does not belong to the store file {path.name}: "
        "move the log away, or bring a snapshot back with `orrery restore`; nothing was changed."
    )


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def sync(path: Path) -> None:
    """Have the file, or the names in the directory, at `path` survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def share(path: Path) -> FileIO:
    """Return a hold on the store, to be closed, that keeps a restore out."""
    hold = _hold(path, fcntl.LOCK_SH)
    if hold is None:
        raise StoreUnavailable(f"The store file {path.name} is being restored: try again when that is done.")
    return hold


def seize(path: Path) -> FileIO:
    """Return an exclusive lock on the store, to be closed; raise `Invalid` while another process uses it."""
    hold = _hold(path, fcntl.LOCK_EX)
    if hold is None:
        raise Invalid(f"The store file {path.name} is in use: stop the service and other commands first.")
    return hold


def _hold(path: Path, mode: int) -> FileIO | None:
    handle = os.open(lock_of(path), os.O_CREAT | os.O_RDWR, 0o600)
    hold = FileIO(handle, "r+")
    try:
        # flock, not lockf: it also excludes a second opening in one process, and a killed process releases it
        fcntl.flock(hold, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        hold.close()
        return None
    return hold
