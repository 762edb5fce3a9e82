"""Provider calls in an hour with one visitor and with a million.

The counter and its fast path in this process, on a clock that is moved: an hour in which a refresh runs each
minute, as the workers would have it, and every visitor reads once.
"""

import asyncio
from dataclasses import dataclass

from starlette.types import Message, Receive, Scope, Send

from bench.measurement import Figure, Measurement, Round
from orrery.edge.public_reads import PublicReads, ReadSources
from orrery.live.answers import site
from orrery.live.reads import PublicRead
from tests.support.counting import Counting

HOUR = 3600
TICK = 60
AT_MOST = 120
"""Two queries a tick (spec 2, Limits)."""

PATH, QUERY = "/api/stats", b"realtime=1"
SCOPE: Scope = {"type": "http", "method": "GET", "path": PATH, "query_string": QUERY, "headers": []}


@dataclass
class Hour:
    """What happened: answers that showed a fresh count, and provider calls."""

    shown: int = 0
    calls: int = 0

    async def receive(self) -> Message:
        """No request has a body."""
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Look at an answer."""
        self.shown += b'"stale":false' in message.get("body", b"")


async def hour_with(visitors: int) -> Hour:
    """Let an hour pass in which each visitor reads once."""
    counting, hour, read = Counting(), Hour(), 0
    source = PublicRead(counting.cache, counting.clock, site)
    app = PublicReads(_no_app, PATH, ReadSources({QUERY: source}, ()), lambda _method, _status: None)
    for second in range(HOUR):
        if second % TICK == 0:
            await counting.refresh.run()
        for _ in range((second + 1) * visitors // HOUR - read):
            await app(SCOPE, hour.receive, hour.send)
            read += 1
        counting.clock.advance(1)
    hour.calls = counting.calls
    return hour


async def _no_app(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError("A read went past the fast path.")


def measure(visitors: int = 1_000_000) -> Round:
    """Let an hour pass with one visitor, and one with many."""
    hours = {many: asyncio.run(hour_with(many)) for many in (1, visitors)}
    found = list[Figure]()
    for many, hour in hours.items():
        found.append(Figure(f"calls of an hour, visitors: {many:,}", hour.calls, "calls", limit=AT_MOST))
        found.append(Figure(f"answers with a fresh count, visitors: {many:,}", hour.shown / many * 100, "%"))
    return found


MEASUREMENT = Measurement(measure, short={"visitors": 100}, rounds=1)
