"""Drafts as files in one folder: each is there as a whole or not at all, wherever its making was killed."""

import json
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from orrery.durable import LOCK_SECONDS, UNFINISHED, hold, replace
from orrery.errors import MailboxRefused, MailboxUnreachable

_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")


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
                text = json.dumps(draft, ensure_ascii=False, indent=2)
                replace(self._path / f"{key}.json", text.encode(errors="replace") + b"\n")
            else:
                os.fsync(folder)  # a kill may have come between its name and this
            return is_new

    def check(self) -> None:
        """Return when drafts can be kept."""
        with self._guarded(), self._locked():
            self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove what killed writes left: who holds the folder is the only one that writes."""
        for left in self._path.glob(f"*{UNFINISHED}"):
            left.unlink()

    @contextmanager
    def _locked(self) -> Generator[int]:
        """Make the folder unless it is there, and hold it; a lock ends with its process however that ends."""
        if not self._turn.acquire(timeout=LOCK_SECONDS):
            raise BlockingIOError
        try:
            with self._opened() as folder:
                hold(folder)
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
