"""One secret that a command makes, in a separate file, which a crash neither loses nor cuts."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from orrery.durable import held, sync
from orrery.errors import Invalid


class SecretFile:
    """A secret as this machine has it. `path` is the file (mode 0600) that a new one goes to, if there is one."""

    def __init__(self, path: Path | None, value: str) -> None:
        self._path = path
        self._value = value

    def read(self) -> str:
        """Return the secret, or an empty text without one."""
        return self._value

    @contextmanager
    def held(self) -> Generator[None]:
        """Lock the file against other commands on this machine, and read it again; raise `Invalid`."""
        if self._path is None or not self._path.parent.is_dir():
            yield
            return
        try:
            with held(self._path.parent):
                if self._path.is_file():
                    self._value = self._path.read_text(encoding="utf-8").strip()
                yield
        except BlockingIOError:
            raise Invalid(f"Another command is changing {self._path}: wait until it has ended.") from None

    def require_writable(self) -> None:
        """Raise `Invalid` when a new secret could not be kept."""
        path = self._place()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise Invalid(f"{path} cannot be written: {error.strerror}.") from None

    def write(self, value: str) -> None:
        """Keep a new secret on the disk, and read it back; raise `Invalid` when that is impossible."""
        path = self._place()
        try:
            _replace(path, f"{value}\n")
            kept = path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise Invalid(f"{path} cannot be written: {error.strerror}.") from None
        if kept != value:
            raise Invalid(f"{path} does not hold what was written to it.")
        self._value = value

    def remove(self) -> None:
        """Delete the file; raise `Invalid` when that is impossible."""
        if self._path is None and not self._value:
            return
        path = self._place()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise Invalid(f"{path} cannot be deleted: {error.strerror}.") from None
        self._value = ""

    def _place(self) -> Path:
        if self._path is None:
            raise Invalid("A new secret needs a folder: set `directory` in [secrets] of the settings.")
        return self._path


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as temporary:
            _ = temporary.write(text)
            temporary.flush()
            os.fsync(temporary.fileno())
        _ = Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    sync(path.parent)
