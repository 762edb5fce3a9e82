"""A line between a node and a server of its database, on which things go wrong while it is in use."""

import asyncio
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Literal

from anyio.from_thread import BlockingPortal, start_blocking_portal

from orrery.adapters.clock import SystemClock
from tests.support.ports import free_ports

Trouble = Literal["", "cut", "silent", "half closed", "delayed", "throttled"]
"""`cut`: each connection is reset, and so is each new one. `silent`: what is sent does not arrive, and neither end
is told. `half closed`: the server has finished, as it seems. `delayed`, `throttled`: it all arrives."""

DELAY = 0.2
"""Seconds for which each read waits on a delayed line."""

PIECE, PIECE_TAKES = 256, 0.002
"""Bytes that pass a throttled line at a time, and the seconds which that takes."""


class Line:
    """A port of this machine that leads to another one. `trouble` is what is wrong with it now."""

    def __init__(self, portal: BlockingPortal, target: int) -> None:
        self._portal, self._target = portal, target
        self._clock = SystemClock()
        self._trouble: Trouble = ""
        self._open = set[asyncio.StreamWriter]()
        self.port = free_ports(1)[0]

    async def open(self) -> None:
        """Listen."""
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def close(self) -> None:
        """Listen no more, and reset what is open."""
        self._strike("cut")
        self._listener.close()

    def have(self, trouble: Trouble) -> None:
        """Let this go wrong from now on, with the connections that are open, too."""
        self._portal.call(self._strike, trouble)

    def _strike(self, trouble: Trouble) -> None:
        # What was swallowed is missing: such a connection is of no use any more.
        broken = trouble == "cut" or self._trouble in {"silent", "half closed"}
        self._trouble = trouble
        for writer in self._open:
            if broken:
                writer.transport.abort()
            elif trouble == "half closed":
                writer.write_eof()

    async def _serve(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        ends = {back}
        self._open.add(back)
        try:
            if self._trouble != "cut":
                far, there = await asyncio.open_connection("127.0.0.1", self._target)
                ends.add(there)
                await asyncio.gather(self._carry(near, there), self._carry(far, back))
        except OSError:
            return  # an end is gone, so the other goes
        finally:
            self._open.discard(back)
            for end in ends:
                end.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(PIECE if self._trouble == "throttled" else 1 << 16):
            if self._trouble in {"delayed", "throttled"}:
                await self._clock.sleep(DELAY if self._trouble == "delayed" else PIECE_TAKES)
            if self._trouble not in {"silent", "half closed"}:
                sink.write(data)
                await sink.drain()
        sink.write_eof()


@contextmanager
def lines_to(*targets: int) -> Generator[list[Line]]:
    """Have a line to each of some ports until the end of the block."""
    with start_blocking_portal() as portal, ExitStack() as stack:
        lines = [Line(portal, target) for target in targets]
        for line in lines:
            portal.call(line.open)
            stack.callback(portal.call, line.close)
        yield lines
