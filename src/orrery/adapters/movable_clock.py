"""A clock that can be moved forward, shared by processes through one small file.

The demo and the tests run the service and the sandbox on it, so that a day passes for both at once.
"""

import asyncio
import os
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

SLICE_SECONDS = 0.1
"""The longest real wait between two reads of a moved clock while sleeping."""


class MovableClock:
    """Real time plus an offset in seconds, stored as text in `path`; a missing file means no offset.

    The offset only grows: a file that shows less than was seen before is ignored, so that no time runs backwards.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._offset = 0.0
        self._read_from: tuple[int, int] | None = None

    def now(self) -> datetime:
        """Return the moved time in UTC."""
        real = datetime.now(UTC)  # noqa: TID251 - an adapter of the clock port must ask somewhere
        return real + timedelta(seconds=self.offset())

    def monotonic(self) -> float:
        """Return seconds that never go backwards and jump ahead when the clock is moved."""
        return time.monotonic() + self.offset()

    async def sleep(self, seconds: float) -> None:
        """Wait until `seconds` have passed on the moved clock."""
        due = self.monotonic() + seconds
        while (left := due - self.monotonic()) > 0:  # noqa: ASYNC110 - another process may move the clock
            await asyncio.sleep(min(left, SLICE_SECONDS))

    def offset(self) -> float:
        """Return the seconds by which this clock is ahead of real time."""
        self._reread()
        return self._offset

    def advance(self, seconds: float) -> float:
        """Move the clock forward for every process that shares the file; return the new offset.

        Raises `ValueError` when `seconds` is negative or no finite number.
        """
        if not 0 <= seconds < float("inf"):
            raise ValueError("A clock is only moved forward.")
        with self._lock:
            self._reread()
            self._offset += seconds
            _write_atomically(self._path, repr(self._offset))
        return self._offset

    def _reread(self) -> None:
        # Looking at the file's status each time costs two microseconds. A look now and then would leave moments in
        # which two processes disagree by all that the clock was moved, and a signature made in one is refused.
        try:
            status = self._path.stat()
            if (found := (status.st_ino, status.st_mtime_ns)) != self._read_from:
                self._offset = max(self._offset, float(self._path.read_text(encoding="ascii")))
                self._read_from = found
        except FileNotFoundError:
            return


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="ascii") as temporary:
        _ = temporary.write(text)
    _ = Path(name).replace(path)
