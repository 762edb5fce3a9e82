"""All connections together: how many there are, and how much of their requests is kept (docs/decisions/0044)."""

import asyncio
from collections import OrderedDict
from typing import Literal

import structlog

MOST_CONNECTIONS = 1024
"""How many connections there are at once, on both listeners."""

SPARE_DESCRIPTORS = 128
"""File descriptors left for the store, for calls to the outside, and for connections that are just ending."""

SMALL = 16 * 1024
"""Bytes of a request that a connection may always have here: the processor's events and all else fit."""

MOST_HELD = 8 * 1024 * 1024
"""Bytes of requests without an answer that are here at once. Beyond it, only small requests are taken."""

ANSWER_SECONDS = 10.0
"""How long an answer may wait for its reader before the connection ends."""

TOLD_EVERY = 60.0
"""Seconds between two lines of the log about the same trouble."""

Trouble = Literal["too many connections", "too much of requests without an answer"]

log = structlog.get_logger()


class Connection:
    """What the crowd knows of one connection. `transport` is there once the client is."""

    transport: asyncio.Transport
    held = 0
    """Bytes that came and have no answer yet."""
    unread_since: float | None = None
    """When its answer began to wait for its reader."""

    def forget(self) -> None:
        """Drop what came and nobody has taken yet."""


class Crowd:
    """Closes the connection that has been silent longest when there are too many, so that a new one gets in.

    It is the client's turn while nothing came, a request is not whole, or the answer was given; it is ours from a
    whole request to its answer, and then the connection is never let go for another.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Connection] = set()
        self._clients_turn: OrderedDict[Connection, None] = OrderedDict()
        self._held = 0
        self._told: dict[Trouble, float] = {}

    def enter(self, one: Connection) -> None:
        """Add a connection, and close another one when there are too many."""
        self._all.add(one)
        self._clients_turn[one] = None
        if len(self._all) > self._most:
            longest, _ = self._clients_turn.popitem(last=False)
            longest.transport.abort()
            self._tell("too many connections", most=self._most)

    def leave(self, one: Connection) -> None:
        """Forget a connection that has ended."""
        self._all.discard(one)
        self._clients_turn.pop(one, None)
        self.answered(one)

    def our_turn(self, one: Connection) -> None:
        """Note that a whole request came."""
        self._clients_turn.pop(one, None)

    def clients_turn(self, one: Connection) -> None:
        """Note that the client has an answer to take, or a request to send."""
        if one in self._all:
            self._clients_turn[one] = None

    def holds(self, one: Connection, size: int) -> None:
        """Note what came of a request that has no answer yet; end the connection if that is too much for all."""
        one.held += size
        self._held += size
        if self._held > MOST_HELD and one.held > SMALL:
            one.forget()
            one.transport.abort()
            self._tell("too much of requests without an answer", most_bytes=MOST_HELD)

    def answered(self, one: Connection) -> None:
        """Note that nothing of what came waits for an answer any more."""
        self._held -= one.held
        one.held = 0

    async def look(self) -> None:
        """End the connections whose answer waited too long for its reader."""
        now = asyncio.get_running_loop().time()
        for one in [*self._all]:
            if not one.transport.get_write_buffer_size():
                one.unread_since = None
            elif one.unread_since is None:
                one.unread_since = now
            elif now - one.unread_since >= ANSWER_SECONDS:
                one.transport.abort()

    def _tell(self, trouble: Trouble, **about: int) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._told.get(trouble, -TOLD_EVERY) >= TOLD_EVERY:
            self._told[trouble] = now
            log.warning(trouble, done="those that keep us waiting are let go", **about)


def most_connections(descriptors: int) -> int:
    """Return how many connections a process may have whose file descriptors must not run out."""
    return min(MOST_CONNECTIONS, max(descriptors - SPARE_DESCRIPTORS, descriptors // 2))
