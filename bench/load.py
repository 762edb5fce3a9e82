"""Load from one core: as much as it takes (wrk), or a fixed number of reads a second, whatever comes back."""

import asyncio
import gc
import os
import re
import resource
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvloop

CONNECTIONS = 64

QUIET = 0.08
"""Cores that others may keep busy while something is measured."""
TRIES = 5

_PATIENCE = 10.0
"""Seconds that the last answers may take after the last read was sent."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Reads a second, the server's processor time for one in microseconds, and how many cores others kept busy."""

    speed: float
    cost: float
    others: float


def pinned(core: int) -> list[str]:
    """Return what is put ahead of a command that is to keep to one of this machine's cores."""
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[core])]


def undisturbed(url: str, seconds: int, core: int, server: int) -> Throughput:
    """Read as much as possible, again when the rest of the machine was busy meanwhile; return the quietest try."""
    tries = list[Throughput]()
    while len(tries) < TRIES:
        tries.append(as_many_as_possible(url, seconds, core, server))
        if tries[-1].others < QUIET:
            break
    return min(tries, key=lambda one: one.others)


def as_many_as_possible(url: str, seconds: int, core: int, server: int) -> Throughput:
    """Read with wrk over all connections; `server` is the process that answers, with its children."""
    command = [*pinned(core), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", url]
    before = _Spent.by(server)
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  our own command
    spent = _Spent.by(server).since(before)
    speed, total = re.search(r"Requests/sec:\s+([\d.]+)", printed), re.search(r"(\d+) requests in", printed)
    if not speed or not total or "Non-2xx" in printed or "Socket errors" in printed:
        raise RuntimeError(f"wrk had trouble with {url}: {printed}")
    others = max(spent.everybody - spent.server - spent.load, 0) / spent.time
    return Throughput(float(speed[1]), spent.server / int(total[1]) * 1_000_000, others)


@dataclass(frozen=True, slots=True)
class _Spent:
    """Seconds of processor time that were used so far, and the time of day of a kind."""

    server: float
    load: float
    everybody: float
    time: float

    @classmethod
    def by(cls, server: int) -> "_Spent":
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(
            _processor_seconds(server),
            children.ru_utime + children.ru_stime,
            _everybodys_processor_seconds(),
            time.perf_counter(),
        )

    def since(self, other: "_Spent") -> "_Spent":
        return _Spent(
            self.server - other.server,
            self.load - other.load,
            self.everybody - other.everybody,
            self.time - other.time,
        )


def _everybodys_processor_seconds() -> float:
    """Return all cores' seconds that were neither idle nor waiting for a disk."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    return sum(int(one) for number, one in enumerate(fields) if number not in _IDLE) / os.sysconf("SC_CLK_TCK")


_IDLE = (3, 4)


def _processor_seconds(process: int) -> float:
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    return sum(map(_own_processor_seconds, [process, *map(int, children)]))


def _own_processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Latencies:
    """Seconds from when each read was due to its whole answer, sorted; `delays` are the generator's own share."""

    answers: list[float]
    delays: list[float]

    def at(self, share: float) -> float:
        """Return the milliseconds within which that share of the answers came."""
        return _at(self.answers, share)

    def delay_at(self, share: float) -> float:
        """Return the same for the generator's own delays."""
        return _at(self.delays, share)


def _at(found: list[float], share: float) -> float:
    return found[min(int(len(found) * share), len(found) - 1)] * 1000


def at_a_fixed_rate(port: int, address: str, rate: int, seconds: float) -> Latencies:
    """Read `rate` times a second. Reads are due by the clock: a slow answer delays none and excuses none."""
    gc.collect()
    gc.disable()
    try:
        return uvloop.run(_OpenLoop(port, address).run(rate, seconds))
    finally:
        gc.enable()


class _OpenLoop:
    """Sends each read when it is due, over a connection that is free; else it waits, and its time runs."""

    def __init__(self, port: int, address: str) -> None:
        self._port = port
        self._request = f"GET {address} HTTP/1.1\r\nHost: shop.example\r\n\r\n".encode()
        self._free: deque[_Connection] = deque()
        self._waiting: deque[float] = deque()
        self._answers: list[float] = []
        self._delays: list[float] = []

    async def run(self, rate: int, seconds: float) -> Latencies:
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
        return Latencies(sorted(self._answers), sorted(self._delays))

    async def _until(self, due: float) -> None:
        # The loop's own timers are a millisecond coarse: ten times what is measured here.
        while time.perf_counter() < due:  # noqa: ASYNC110  see above
            await asyncio.sleep(0)

    def _send(self, due: float) -> None:
        self._delays.append(time.perf_counter() - due)
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
