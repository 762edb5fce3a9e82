"""Drafts as files in one folder: each is there as a whole or not at all, wherever its making was killed."""

import fcntl
import json
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import stamina

from orrery.errors import MailboxRefused, MailboxUnreachable

LOCK_SECONDS = 5.0
"""How long others may hold the folder, in this process and then in another; a turn takes milliseconds."""

_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")
_UNFINISHED = ".unfinished"


class DraftFolder:
    """Keeps one file for each key, readable for its owner only. Raises `MailboxError`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = Lock()

    def keep(self, key: str, draft: Mapping[str, str]) -> bool:
        """Keep a draft under `key` unless there is one; return whether it is new."""
        if not _KEY.fullmatch(key):
            raise MailboxRefused("The key of a draft is 1 to 100 letters, digits, - and _.")
        with self._guarded(), self._locked() as folder:
            self._remove_unfinished()
            is_new = not (self._path / f"{key}.json").exists()
            if is_new:
                self._write(key, json.dumps(draft, ensure_ascii=False, indent=2).encode(errors="replace") + b"\n")
            os.fsync(folder)  # for a draft of before, too: a kill may have come between its name and this
            return is_new

    def check(self) -> None:
        """Return when drafts can be kept."""
        with self._guarded(), self._locked():
            self._remove_unfinished()

    def _write(self, key: str, content: bytes) -> None:
        unfinished = self._path / f"{key}{_UNFINISHED}"
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            _ = file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _ = unfinished.replace(self._path / f"{key}.json")

    def _remove_unfinished(self) -> None:
        """Remove what killed writes left: who holds the folder is the only one that writes."""
        for left in self._path.glob(f"*{_UNFINISHED}"):
            left.unlink()

    @contextmanager
    def _locked(self) -> Generator[int]:
        """Make the folder unless it is there, and hold it; a lock ends with its process however that ends."""
        if not self._turn.acquire(timeout=LOCK_SECONDS):
            raise BlockingIOError
        try:
            with self._opened() as folder:
                _lock(folder)
                yield folder
        finally:
            self._turn.release()

    @contextmanager
    def _opened(self) -> Generator[int]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self._path.mkdir(mode=0o700)
        folder = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield folder
        finally:
            os.close(folder)

    @contextmanager
    def _guarded(self) -> Generator[None]:
        try:
            yield
        except BlockingIOError:
            raise MailboxUnreachable("The folder of the drafts is in use by another process: try again.") from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise MailboxRefused(f"The folder of the drafts cannot be used ({why}).") from None


@stamina.retry(on=BlockingIOError, attempts=None, timeout=LOCK_SECONDS, wait_initial=0.01, wait_max=0.1)
def _lock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
