"""How the service ends, so that no request is lost: it is not ready at once, and closes its listeners later.

What is in front of several nodes needs that time to send its requests elsewhere (decision record 94).
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from orrery.app.cli.service_manager import closing, notify
from orrery.app.cli.uvicorn_config import GRACE, connection_limiter, uvicorn_config
from orrery.logs import log

REST = 10
"""Seconds for what comes after the last answer: the jobs and the store end."""


class ClosingServer(uvicorn.Server):
    """A server that after SIGTERM goes on for some seconds, and ends each connection with its next answer.

    A second signal ends it at once. Ctrl-C leaves those seconds out: a person waits for the end.
    """

    def __init__(self, app: ASGIApp, seconds: float, close: Callable[[], Coroutine[None, None, None]]) -> None:
        """`close` is called once SIGTERM has come."""
        self._limiter = connection_limiter()
        super().__init__(uvicorn_config(app, self._limiter))
        self._seconds = seconds
        self._close = close
        self._loop = asyncio.get_running_loop()
        self._closing: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end at the first signal, and end at once at the second."""
        if self._limiter.is_closing:
            self.force_exit = True
            super().handle_exit(sig, frame)
        else:
            self._limiter.is_closing = True
            _ = self._loop.call_soon_threadsafe(self._begin, sig)

    def _begin(self, sig: int) -> None:
        seconds = self._seconds if sig == signal.SIGTERM else 0
        log.info("closing", seconds=seconds)
        notify(closing(seconds + GRACE + REST))
        self._limiter.end_with_answers()
        self._closing = asyncio.create_task(self._close())
        _ = self._loop.call_later(seconds, super().handle_exit, sig, None)
