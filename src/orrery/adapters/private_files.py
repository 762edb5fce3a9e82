"""Private files: readable by this user only, and whole after a crash."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orrery.errors import DependencyFailed, NotConfigured, OrreryError, words_of
from orrery.ports.private_file import SignInFileUnusable

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What is raised for a file that is not private, and for one that does not work, with the owner's remedies."""

    error: Callable[[str], OrreryError]
    broken: Callable[[str], OrreryError]
    another_user: str
    other_users: str

    def refuse_open(self, found: os.stat_result, path: Path, is_kind: Callable[[int], bool]) -> None:
        """Raise for what is not of this user, or what others may use."""
        if not is_kind(found.st_mode):
            raise self.error(f"{path} is no plain file: move it away.")
        if found.st_uid != os.geteuid():
            raise self.error(f"{path} belongs to another user: {self.another_user}.")
        if found.st_mode & _OTHERS:
            mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
            raise self.error(f"Other users may use {path}: {self.other_users}: chmod {mode} {path}")

    @contextmanager
    def guarded(self, path: Path) -> Generator[None]:
        try:
            yield
        except BlockingIOError:
            raise self.broken(f"Another process holds {path.parent}: try again.") from None
        except OSError as error:
            raise self.broken(f"{path} cannot be used: {words_of(error)}.") from None


_SIGN_INS = _Refusal(
    SignInFileUnusable,
    SignInFileUnusable,
    "delete it, and sign in again",
    "somebody may have copied the sign-ins in it. Sign in again after",
)
_OWN = _Refusal(
    NotConfigured,
    DependencyFailed,
    "only a file of your own is trusted here",
    "somebody may have copied it. Type",
)


class OwnFile:
    """See `PrivateFile`. Its folder is made where it is missing."""

    def __init__(self, path: Path, refusal: _Refusal = _OWN, *, in_private_folder: bool = False) -> None:
        self._path = path
        self._refusal = refusal
        self._in_private_folder = in_private_folder

    @property
    def path(self) -> Path:
        return self._path

    def read(self) -> bytes | None:
        with self._refusal.guarded(self._path):
            try:
                descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                self._refusal.refuse_open(os.fstat(descriptor), self._path, stat.S_ISREG)
                self._require_private(self._path.parent.stat())
                return file.read()

    def change(self, change: Callable[[bytes | None], bytes]) -> None:
        from orrery.durable import hold, replace  # noqa: PLC0415  a scan only reads, and does not wait for it

        folder = self._path.parent
        with self._refusal.guarded(self._path):
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                self._require_private(os.fstat(held))
                hold(held)
                replace(self._path, change(self.read()))
            finally:
                os.close(held)

    def _require_private(self, folder: os.stat_result) -> None:
        if self._in_private_folder:
            self._refusal.refuse_open(folder, self._path.parent, stat.S_ISDIR)


class PrivateFiles:
    """Keeps one file for each name, of mode 0600 in a folder of mode 0700."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return what a file holds, or None; see `SignInFiles`."""
        return self._file(name).read()

    def change(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Replace a file by what `change` makes of it; see `SignInFiles`."""
        self._file(name).change(change)

    def path_of(self, name: str) -> Path:
        """Return a file's path."""
        return self._folder / f"{name}.json"

    def _file(self, name: str) -> OwnFile:
        return OwnFile(self.path_of(name), _SIGN_INS, in_private_folder=True)


def write_new(path: Path, text: str) -> None:
    """Write a file of mode 0600 that a crash leaves whole or absent; raise `FileExistsError` when it is there."""
    from orrery.durable import UNFINISHED, sync  # noqa: PLC0415  as above

    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    unfinished.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            _ = file.write(text)
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(unfinished)  # unlike a rename, it replaces nothing
    finally:
        unfinished.unlink(missing_ok=True)
    sync(path.parent)
