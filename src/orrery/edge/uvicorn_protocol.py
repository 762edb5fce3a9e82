"""All that reaches into uvicorn's private parts: limits for each connection, and a read in one write.

For the limits there is no public way: ASGI begins when a request has been parsed and sees no half request; of the
settings, `h11_max_incomplete_event_size` belongs to the slower parser and limits no time, and `limit_concurrency`
turns buyers away. For the read there is ASGI's, which checks each header again and writes twice: in turns, a read
takes 54.9 microseconds of the processor's time instead of 38.7, which are 3 reads of 10.

`tests/edge/test_uvicorn_protocol.py` names every private thing that is used here, and fails when a new version of
uvicorn has changed one of them.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from orrery.edge.connection_limiter import SMALL, ConnectionLimiter, LimitedConnection
from orrery.edge.problem import Problem
from orrery.edge.problems import response_of

Headers = list[tuple[bytes, bytes]]

HEADER_SECONDS = 10.0
"""How long a client may take from connecting to the end of its headers, or send bytes that are no request."""

HEADER_BYTES = 64 * 1024
"""How long a request's address and headers may be; the parser would keep all of it."""

MOST_HEADERS = 100
"""How many headers a request may have: an empty one takes a hundred bytes of memory."""

MOST_AHEAD = 16
"""How many requests a client may send ahead of the answer to its first."""

MESSAGE_BYTES = 8 * 1024 * 1024
"""How long a whole request may be, with its chunks and trailers: far beyond the largest body that is read."""

_UNAUTHORIZED = JSONResponse(
    {"ok": False, "error": "Unauthorized"}, 401, {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
)
"""No valid bearer is that long (spec 2, Authentication 3)."""

_TOO_LARGE = response_of(Problem(431, "headers-too-large", "The request's headers are too large."))

_AUTHORIZATION = re.compile(rb"^authorization:", re.IGNORECASE | re.MULTILINE)
_LINE_START = 32
"""Bytes of a header's line that are enough to know its name by."""

_FORGOTTEN: deque[tuple[bytes, bytes]] = deque(maxlen=0)
"""Receives trailers, which the parser reports as headers."""


def written_at_once(send: Send, whole: Callable[[Headers], bytes]) -> bool:
    """Write a whole answer, if the server is uvicorn and nothing is in the way; return whether it was written.

    `whole` is called with the headers that the server adds to each answer, in a list that is new when they change.
    """
    cycle = getattr(send, "__self__", None)
    if not isinstance(cycle, RequestResponseCycle):
        return False
    if cycle.response_started or cycle.disconnected or cycle.flow.write_paused or not cycle.keep_alive:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(whole(cycle.default_headers))
    cycle.message_event.set()
    cycle.on_response()
    return True


class _TooMuchError(Exception):
    """Stops the parser at a request that is refused."""


class TimeLimitedProtocol(HttpToolsProtocol, LimitedConnection):
    """uvicorn's protocol, closing a connection that sends half a request and then nothing, or headers without end.

    Headers that are too large get an answer first. The edge cache in front has the same limits; these hold without
    one. The limits over all connections are in `ConnectionLimiter`.
    """

    _patience: asyncio.TimerHandle | None = None
    _in_headers = False
    _refused = False
    _running: RequestResponseCycle | None = None
    _received = 0
    _piece = 0
    _lines = b""

    def __init__(self, limiter: ConnectionLimiter, *given: Any, **named: Any) -> None:  # noqa: ANN401  they are uvicorn's
        super().__init__(*given, **named)
        self._limiter = limiter

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] narrowed upstream too
        """Start waiting for the first request's headers."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(SMALL)
        self._start_timeout()
        self._limiter.enter(self)

    def data_received(self, data: bytes) -> None:
        """Receive bytes of the client, within limits."""
        self._piece = len(data)
        self._received += self._piece
        super().data_received(data)
        if self._refused:
            return
        if self._in_headers or (self.cycle and not self.cycle.response_complete):
            self._limiter.holds(self, self._piece)
        if self._patience is None and (self._in_headers or self._is_idle()):
            # Half a request; or neither a request nor an answer is under way: an empty line, or the rest of a body
            # that is never read. A request whose headers come in one piece, as most do, costs no timer.
            self._start_timeout()
        if self._in_headers:
            self._limit_head(data)
        elif self._received > MESSAGE_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Begin to count a request's headers."""
        if len(self.pipeline) >= MOST_AHEAD:
            self._refused = True
            self.transport.abort()
            raise _TooMuchError
        super().on_message_begin()
        self._in_headers, self._received, self._lines = True, 0, b""
        self._cancel_timeout()

    def on_headers_complete(self) -> None:
        """Stop waiting: the headers are here."""
        self._in_headers = False
        self._cancel_timeout()
        # Only in a large piece, or in the last of several, can they have become too long unseen.
        unseen = self._piece > HEADER_BYTES or self._lines
        if len(self.headers) > MOST_HEADERS or (unseen and self._head_bytes() > HEADER_BYTES):
            self._refuse_head()
            raise _TooMuchError
        super().on_headers_complete()
        if self._limiter.is_closing:
            self.end_with_answer()
        self.headers = _FORGOTTEN  # pyright: ignore[reportAttributeAccessIssue]  all that is done with it is to append

    def on_message_complete(self) -> None:
        """Note that the answer is awaited now."""
        super().on_message_complete()
        if not self.cycle.response_complete:
            self._limiter.request_complete(self)

    def on_response_complete(self) -> None:
        """Note that the client has its answer, unless it has sent another request ahead."""
        if not self.pipeline:
            self._limiter.answered(self)
            self._limiter.client_waits(self)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: the client has left."""
        self._cancel_timeout()
        self._limiter.leave(self)
        if self._running:
            self._running.disconnected = True
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGIApp) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  the same type by another name
        """Remember the running request: uvicorn notifies only the latest one when the client disconnects."""
        self._running = cycle
        super()._start_asgi_task(cycle, app)  # pyright: ignore[reportArgumentType]  as above

    def forget(self) -> None:
        """Drop received bytes that no handler has read: until the next turn of the loop more would be added."""
        self.pipeline.clear()
        if self.cycle:
            self.cycle.body.clear()

    def end_with_answer(self) -> None:
        """Close the connection after the answer to the newest request that it has; the answer announces that."""
        if self.cycle:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no request, unless they are answered already."""
        if not self._refused:
            super().send_400_response(msg)

    def _head_bytes(self) -> int:
        """Return the length of the address and the headers that the parser has reported."""
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _limit_head(self, data: bytes) -> None:
        """Refuse a head that goes on after this piece, once it is too large.

        The parser reports a header when the next one begins, so the beginnings of the last two lines are kept
        here.
        """
        if not self._lines:
            self._received = self._head_bytes() + len(data) - (data.rfind(b"\n") + 1)
        lines = (self._lines + data).rsplit(b"\n", 2)[-2:]
        self._lines = b"\n".join(line[:_LINE_START] for line in lines)
        if self._received > HEADER_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def _refuse_head(self) -> None:
        self._refused = True
        if self.cycle and not self.cycle.response_complete:
            self.transport.abort()  # the client would take this answer for the one that is under way
            return
        authorizes = any(name == b"authorization" for name, _ in self.headers) or _AUTHORIZATION.search(
            self._lines
        )
        self._write(_UNAUTHORIZED if authorizes else _TOO_LARGE)
        self._cancel_timeout()
        self.connections.discard(self)
        self.transport.set_protocol(_Refused(self, self._limiter))

    def _write(self, answer: Response) -> None:
        headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
        lines = [b"%b: %b\r\n" % header for header in headers]
        self.transport.write(b"".join([STATUS_LINE[answer.status_code], *lines, b"\r\n", answer.body]))
        self.transport.write_eof()

    def _is_idle(self) -> bool:
        return bool(self.cycle) and self.cycle.response_complete and not self.transport.is_closing()

    def _start_timeout(self) -> None:
        if self.transport.is_closing():
            return
        self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _cancel_timeout(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class _Refused(asyncio.Protocol):
    """Lets a client that has its answer send on for a while: closed at once, it might never come to read it."""

    def __init__(self, refused: TimeLimitedProtocol, limiter: ConnectionLimiter) -> None:
        self._refused = refused
        self._limiter = limiter
        self._left = MESSAGE_BYTES
        self._end = refused.loop.call_later(HEADER_SECONDS, refused.transport.abort)
        limiter.answered(refused)

    def data_received(self, data: bytes) -> None:
        """Drop the client's bytes."""
        self._left -= len(data)
        if self._left < 0:
            self._refused.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: the client has left."""
        del exc
        self._end.cancel()
        self._limiter.leave(self._refused)
