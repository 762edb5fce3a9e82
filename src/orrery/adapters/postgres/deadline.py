"""Ends a call to the database that takes too long, by shutting its socket down.

Nothing else ends every wait: the kernel of a frozen server still acknowledges, and `statement_timeout` does not
end a COMMIT that waits for its standby.
"""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Condition, Thread
from time import monotonic


class Deadline:
    """A time by which each call over a connection must have its answer; one thread watches for all of them."""

    def __init__(self, limit: timedelta) -> None:
        self._limit = limit.total_seconds()
        self._changed = Condition()
        self._running: dict[int, float] = {}
        self._thread = Thread(target=self._watch, name="store-deadline", daemon=True)
        self._idle = self._closed = False
        self._thread.start()

    @contextmanager
    def over(self, handle: int) -> Generator[None]:
        """Shut the socket `handle` down unless the block ends in time."""
        until = monotonic() + self._limit
        with self._changed:
            self._running[handle] = until
            if self._idle:  # else it wakes before this deadline in any case
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                _ = self._running.pop(handle, None)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                first = min(self._running.values(), default=None)
                self._idle = first is None
                _ = self._changed.wait(None if first is None else max(first - monotonic(), 0))
                for handle in [one for one, until in self._running.items() if until <= monotonic()]:
                    del self._running[handle]
                    _shut_down(handle)


def _shut_down(handle: int) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(handle)) as line:
        line.shutdown(socket.SHUT_RDWR)
