"""Ends a call to the database that takes too long, by shutting its socket down.

Nothing else ends every wait: the kernel of a frozen server still acknowledges, and `statement_timeout` does not
end a COMMIT that waits for its standby.
"""

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import count
from threading import Condition, Thread
from time import monotonic


class Deadline:
    """A time by which each call over a connection must have its answer; one thread watches for all of them."""

    def __init__(self, limit: timedelta) -> None:
        self.limit = limit.total_seconds()
        """How long a call may take."""
        self._changed = Condition()
        self._calls = count()
        self._running: dict[int, tuple[float, socket.socket]] = {}
        self._thread = Thread(target=self._watch, name="store-deadline", daemon=True)
        self._idle = self._closed = False
        self._thread.start()

    @contextmanager
    def over(self, line: socket.socket, limit: timedelta | None = None) -> Generator[None]:
        """Shut `line` down unless the block ends in time, or within another `limit`.

        It is a second handle of the connection's socket: the client library may close the first at any time, and
        its number would be another's.
        """
        call = next(self._calls)
        with self._changed:
            self._running[call] = monotonic() + (limit.total_seconds() if limit else self.limit), line
            if self._idle:  # else it wakes before this deadline in any case
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                _ = self._running.pop(call, None)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                first = min((until for until, _ in self._running.values()), default=None)
                self._idle = first is None
                _ = self._changed.wait(None if first is None else max(first - monotonic(), 0))
                late = [call for call, (until, _) in self._running.items() if until <= monotonic()]
                for _, line in map(self._running.pop, late):
                    with suppress(OSError):  # it ended just now
                        line.shutdown(socket.SHUT_RDWR)
