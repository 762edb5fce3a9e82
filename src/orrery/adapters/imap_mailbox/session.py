"""Connections in their own threads: a caller that waits no longer ends its connection (decision 0070)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from threading import Lock
from typing import TypeVar

from orrery.adapters.imap_mailbox.connection import SECONDS, ImapConnection, MailHost, translated
from orrery.ports.comms.errors import MailboxUnreachable
from orrery.trust import Trust

CONNECTIONS = 4
"""At one time, for one account: servers allow ten and more, and the person's own mail program needs some."""

_GRACE_SECONDS = 5.0
"""How much later than its own deadline a call is given up: it waits for a thread, or for the host's address."""

T = TypeVar("T")


class ImapSession:
    """One connection, used by one thread at a time."""

    def __init__(self, server: MailHost, trust: Trust, threads: ThreadPoolExecutor, seconds: float) -> None:
        self._server = server
        self._trust = trust
        self._threads = threads
        self._seconds = seconds
        self._turn = Lock()
        self._connection: ImapConnection | None = None
        self._is_over = False

    async def do(self, work: Callable[[ImapConnection], T]) -> T:
        """Return what `work` returns, in a thread; the first one begins with the connection and its log-in."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds + _GRACE_SECONDS):
                return await loop.run_in_executor(self._threads, self._do, work)
        except TimeoutError:
            self.end()
            raise MailboxUnreachable(f"The mail server gave no answer for {self._seconds:g} s.") from None
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the connection at once; the thread that uses it, or another one, closes it."""
        self._is_over = True
        if self._connection:
            self._connection.cut()
        self._leave(ImapConnection.shutdown)

    def leave(self) -> None:
        """Log out and close, without a caller that waits."""
        self._leave(ImapConnection.leave)

    def _leave(self, close: Callable[[ImapConnection], None]) -> None:
        def closed() -> None:
            with self._turn:
                if self._connection:
                    close(self._connection)

        _ = self._threads.submit(closed)

    def _do(self, work: Callable[[ImapConnection], T]) -> T:
        with self._turn, translated(self._seconds):
            if self._is_over:
                raise TimeoutError
            if self._connection is None:
                self._connection = ImapConnection(self._server, self._trust.mail, self._opened, self._seconds)
            return work(self._connection)

    def _opened(self, connection: ImapConnection) -> None:
        """Note a connection before its log-in, which may hang."""
        self._connection = connection


class ImapSessions:
    """Opens the connections of one account."""

    def __init__(self, server: MailHost, trust: Trust, seconds: float = SECONDS) -> None:
        self._server = server
        self._trust = trust
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="imap")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[ImapSession]:
        session = ImapSession(self._server, self._trust, self._threads, self._seconds)
        try:
            yield session
        except BaseException:
            session.end()
            raise
        session.leave()
