"""Drafts as files in one folder."""

import json
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from orrery.errors import words_of
from orrery.ports.comms.errors import MailboxRefused

_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")


class DraftFolder:
    """Keeps one file for each key, readable for its owner only. Raises `MailboxRefused`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self, key: str, draft: Mapping[str, str]) -> bool:
        """Keep a draft under `key` unless there is one; return whether it is new."""
        if not _KEY.fullmatch(key):
            raise MailboxRefused("The key of a draft is 1 to 100 letters, digits, - and _.")
        with self._unfinished() as name:
            _ = Path(name).write_text(json.dumps(draft, ensure_ascii=False, indent=2) + "\n", "utf-8", "replace")
            try:
                os.link(name, self._path / f"{key}.json")  # of several at the same time one succeeds
            except FileExistsError:
                return False
        return True

    def check(self) -> None:
        """Return when drafts can be kept."""
        with self._unfinished():
            pass

    @contextmanager
    def _unfinished(self) -> Generator[str]:
        """Yield the name of a new file, which goes; the folder is made unless it is there."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.mkdir(mode=0o700, exist_ok=True)
            with NamedTemporaryFile(dir=self._path) as file:
                yield file.name
        except OSError as error:
            raise MailboxRefused(f"The folder of the drafts cannot be used: {words_of(error)}.") from None
