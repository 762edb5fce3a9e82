"""A clock that can be moved forward, shared by processes through one small file.

The demo and the tests run the service and the sandbox on it, so that a day passes for both at once.
"""

import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from weakref import WeakKeyDictionary

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
        self._in_loops = WeakKeyDictionary[asyncio.AbstractEventLoop, _Sleepers]()

    def __reduce__(self) -> tuple[type["MovableClock"], tuple[Path]]:
        """Send the file to another process: that is what both share."""
        return MovableClock, (self._path,)

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
        while (left := due - self.monotonic()) > SLICE_SECONDS:
            await self._sleepers().until(due)
        if left > 0:
            await asyncio.sleep(left)

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

    def _sleepers(self) -> "_Sleepers":
        return self._in_loops.setdefault(asyncio.get_running_loop(), _Sleepers(self.monotonic))

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


class _Sleepers:
    """Those who sleep in one event loop: one look at the clock serves all, as a service has dozens for hours."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._waiting: dict[asyncio.Future[None], float] = {}
        self._looks = False

    async def until(self, due: float) -> None:
        """Return when less than a slice is left, or earlier."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = due
        if not self._looks:
            self._look()
        try:
            await waiting
        finally:
            _ = self._waiting.pop(waiting, None)

    def _look(self) -> None:
        try:
            soon = self._monotonic() + SLICE_SECONDS
        except Exception as error:  # noqa: BLE001  raised in everybody who sleeps: none of them would wake again
            self._end_all(error)
            return
        for waiting in [one for one, due in self._waiting.items() if due <= soon]:
            del self._waiting[waiting]
            if not waiting.done():
                waiting.set_result(None)
        self._looks = bool(self._waiting)
        if self._looks:
            _ = asyncio.get_running_loop().call_later(SLICE_SECONDS, self._look)

    def _end_all(self, error: Exception) -> None:
        self._looks = False
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(error)
        self._waiting.clear()


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="ascii") as temporary:
        _ = temporary.write(text)
    _ = Path(name).replace(path)
