"""Load from one core: as much as it takes (wrk), or a fixed number of reads a second, whatever comes back."""

import asyncio
import gc
import re
import signal
import subprocess
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import uvloop

from bench.service import pinned, processor_seconds

CONNECTIONS = 64

_PATIENCE = 120.0
"""Seconds that the last answers may take after the last read was sent."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Reads a second, and the server's processor time for one in microseconds."""

    speed: float
    cost: float


def as_many_as_possible(
    url: str, host: str, seconds: float, core: int, server: int, cookie: str = ""
) -> Throughput:
    """Read with wrk over all connections; `server` is the process that answers, with its children."""
    sent = ["-H", f"Cookie: {cookie}"] if cookie else []
    options = ["-t1", f"-c{CONNECTIONS}", "-d1h", "-H", f"Host: {host}", *sent, url]
    command = [*pinned(core), "stdbuf", "-oL", "wrk", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  our own command
    assert process.stdout is not None  # noqa: S101  asked for above
    process.stdout.readline()  # it listens to the signal by now
    before = processor_seconds(server)
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.send_signal(signal.SIGINT)  # its own durations are whole seconds
    printed, spent = process.stdout.read(), processor_seconds(server) - before
    speed, total = re.search(r"Requests/sec:\s+([\d.]+)", printed), re.search(r"(\d+) requests in", printed)
    if not speed or not total or "Non-2xx" in printed or "Socket errors" in printed:
        raise RuntimeError(f"wrk had trouble with {url}: {printed}")
    if not int(total[1]):
        return as_many_as_possible(url, host, 2 * seconds, core, server, cookie)
    return Throughput(float(speed[1]), spent / int(total[1]) * 1_000_000)


def at_a_fixed_rate(port: int, host: str, address: str, rate: int, seconds: float) -> list[float]:
    """Read `rate` times a second; return the seconds from when each was due to its whole answer, sorted.

    Reads are due by the clock: a slow answer delays none and excuses none.
    """
    gc.collect()
    gc.disable()
    try:
        return uvloop.run(_OpenLoop(port, host, address).run(rate, seconds))
    finally:
        gc.enable()


class _OpenLoop:
    """Sends each read when it is due, over a connection that is free; else it waits, and its time runs."""

    def __init__(self, port: int, host: str, address: str) -> None:
        self._port = port
        self._request = f"GET {address} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        self._free: deque[_Connection] = deque()
        self._waiting: deque[float] = deque()
        self._answers: list[float] = []

    async def run(self, rate: int, seconds: float) -> list[float]:
        """Send every read, and return how long each took."""
        loop, reads = asyncio.get_running_loop(), round(rate * seconds)
        for _ in range(CONNECTIONS):
            _, connection = await loop.create_connection(lambda: _Connection(self), "127.0.0.1", self._port)
            self._free.append(connection)
        begin = time.perf_counter() + 0.1
        for number in range(reads):
            await self._until(begin + number / rate)
            self._send(begin + number / rate)
        async with asyncio.timeout(_PATIENCE):
            while len(self._answers) < reads:  # noqa: ASYNC110  the connections are watched as closely as before
                await asyncio.sleep(0)
        for connection in self._free:
            connection.close()
        return sorted(self._answers)

    async def _until(self, due: float) -> None:
        # The loop's own timers are a millisecond coarse: ten times what is measured here.
        while time.perf_counter() < due:  # noqa: ASYNC110  see above
            await asyncio.sleep(0)

    def _send(self, due: float) -> None:
        if self._free:
            self._free.popleft().read(self._request, due)
        else:
            self._waiting.append(due)

    def answered(self, connection: "_Connection", due: float) -> None:
        """Take note of an answer, and give its connection to the read that has waited longest."""
        self._answers.append(time.perf_counter() - due)
        if self._waiting:
            connection.read(self._request, self._waiting.popleft())
        else:
            self._free.append(connection)


class _Connection(asyncio.Protocol):
    """One connection with at most one read under way."""

    def __init__(self, owner: _OpenLoop) -> None:
        self._owner = owner
        self._received = b""
        self._due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to the server."""
        self._transport = cast("asyncio.Transport", transport)

    def read(self, request: bytes, due: float) -> None:
        """Send a read that was due at that time."""
        self._due = due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Wait for the whole answer."""
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"Not an answer: {head!r}")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) >= length:
            self._received = b""
            self._owner.answered(self, self._due)

    def close(self) -> None:
        """Leave."""
        self._transport.close()
