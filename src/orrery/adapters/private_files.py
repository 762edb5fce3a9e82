"""Private files in one folder: this user's, readable by nobody else, and whole after a crash."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from orrery.durable import hold, replace
from orrery.errors import SignInFileUnusable

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class PrivateFiles:
    """Keeps one file for each name, of mode 0600 in a folder of mode 0700."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return what a file holds, or None; see `SignInFiles`."""
        path = self.path_of(name)
        with _guarded(path):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                _refuse_open(os.fstat(descriptor), path, stat.S_ISREG)
                _refuse_open(self._folder.stat(), self._folder, stat.S_ISDIR)
                return file.read()

    def change(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Replace a file by what `change` makes of it; see `SignInFiles`."""
        path = self.path_of(name)
        with _guarded(path):
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                _refuse_open(os.fstat(folder), self._folder, stat.S_ISDIR)
                hold(folder)
                replace(path, change(self.read(name)))
            finally:
                os.close(folder)

    def path_of(self, name: str) -> Path:
        """Return where a file lies."""
        return self._folder / f"{name}.json"


def _refuse_open(found: os.stat_result, path: Path, is_kind: Callable[[int], bool]) -> None:
    """Raise `SignInFileUnusable` for what is not of this user, or what others may use."""
    if not is_kind(found.st_mode):
        raise SignInFileUnusable(f"{path} is no plain file: move it away.")
    if found.st_uid != os.geteuid():
        raise SignInFileUnusable(f"{path} belongs to another user: delete it, and sign in again.")
    if found.st_mode & _OTHERS:
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        raise SignInFileUnusable(
            f"Other users may use {path}: somebody may have copied the sign-ins in it. Sign in again after: "
            f"chmod {mode} {path}"
        )


@contextmanager
def _guarded(path: Path) -> Generator[None]:
    try:
        yield
    except BlockingIOError:
        raise SignInFileUnusable(f"Another process holds {path.parent}: try again.") from None
    except OSError as error:
        raise SignInFileUnusable(f"{path} cannot be used: {error.strerror or type(error).__name__}.") from None
