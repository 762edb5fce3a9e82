"""Limits over all connections: their number, and the bytes of requests in memory (docs/decisions/0044)."""

import asyncio
from collections import OrderedDict
from typing import Literal

from orrery.logs import log

MOST_CONNECTIONS = 1024
"""How many connections may be open at once, on both listeners."""

SPARE_DESCRIPTORS = 128
"""File descriptors reserved for the store, for calls to the outside, and for connections that are closing."""

SMALL = 16 * 1024
"""Bytes of a request that each connection may always have in memory: the processor's events fit."""

MOST_HELD = 8 * 1024 * 1024
"""Bytes of unanswered requests in memory at once. Beyond it only small requests are accepted."""

ANSWER_SECONDS = 10.0
"""How long an answer may wait until its client reads it, before the connection is closed."""

LOG_EVERY = 60.0
"""Seconds between two log lines about the same overload."""

Overload = Literal["too many connections", "too much of requests without an answer"]


class LimitedConnection:
    """The limiter's state of one connection. `transport` is set when the client has connected."""

    transport: asyncio.Transport
    held = 0
    """Bytes that were received and have no answer yet."""
    unread_since: float | None = None
    """When its answer began to wait for the client."""

    def forget(self) -> None:
        """Drop received bytes that no handler has read yet."""

    def end_with_answer(self) -> None:
        """Close the connection after the answer to the request that it has."""


class ConnectionLimiter:
    """Closes the connection that has been silent longest when there are too many, so that a new one gets in.

    A connection is idle while its request is missing or incomplete, and after the answer. Between a complete
    request and its answer it is never closed for another one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[LimitedConnection] = set()
        self._idle: OrderedDict[LimitedConnection, None] = OrderedDict()
        self._held = 0
        self._logged: dict[Overload, float] = {}
        self.is_closing = False
        """Whether each connection ends with its next answer."""

    def enter(self, one: LimitedConnection) -> None:
        """Add a connection, and close another one when there are too many."""
        self._all.add(one)
        self._idle[one] = None
        if len(self._all) > self._most:
            longest, _ = self._idle.popitem(last=False)
            longest.transport.abort()
            self._log("too many connections", most=self._most)

    def leave(self, one: LimitedConnection) -> None:
        """Forget a connection that has ended."""
        self._all.discard(one)
        self._idle.pop(one, None)
        self.answered(one)

    def request_complete(self, one: LimitedConnection) -> None:
        self._idle.pop(one, None)

    def client_waits(self, one: LimitedConnection) -> None:
        """Note that the connection is idle: the client has to read an answer or to send a request."""
        if one in self._all:
            self._idle[one] = None

    def holds(self, one: LimitedConnection, size: int) -> None:
        """Count received bytes of an unanswered request; close the connection when all together are too many."""
        one.held += size
        self._held += size
        if self._held > MOST_HELD and one.held > SMALL:
            one.forget()
            one.transport.abort()
            self._log("too much of requests without an answer", most_bytes=MOST_HELD)

    def end_with_answers(self) -> None:
        """Keep no connection beyond its next answer from now on."""
        self.is_closing = True
        for one in self._all:
            one.end_with_answer()

    def answered(self, one: LimitedConnection) -> None:
        """Note that no received request waits for an answer any more."""
        self._held -= one.held
        one.held = 0

    async def close_unread(self) -> None:
        """Close the connections whose answer has waited too long for the client."""
        now = asyncio.get_running_loop().time()
        for one in [*self._all]:
            if not one.transport.get_write_buffer_size():
                one.unread_since = None
            elif one.unread_since is None:
                one.unread_since = now
            elif now - one.unread_since >= ANSWER_SECONDS:
                one.transport.abort()

    def _log(self, trouble: Overload, **about: int) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._logged.get(trouble, -LOG_EVERY) >= LOG_EVERY:
            self._logged[trouble] = now
            done = "the connections that were silent longest are closed"
            log.warning(trouble, done=done, **about)  # pyright: ignore[reportArgumentType]  two fields, both figures


def most_connections(descriptors: int) -> int:
    """Return how many connections a process may have whose file descriptors must not run out."""
    return min(MOST_CONNECTIONS, max(descriptors - SPARE_DESCRIPTORS, descriptors // 2))
