"""Strangers who hold what they can: the service's memory stays small, and buyers go on buying.

`./run soak strangers` does the same with as many strangers as were seen.
"""

import asyncio
import resource
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.soak import SOAKING, rounds
from tests.support.visiting import Visitor
from tests.support.waiting import PATIENCE, eventually

PAUSE = 1.0
"""Real seconds from one drop to the next."""

AWAY = 3.0
"""Real seconds before somebody who was let go comes again."""

BODY = 1024 * 1024
"""Bytes that each dripping body declares: the largest that is read."""

UNREAD = b"GET /live/tile.js HTTP/1.1\r\nHost: shop.example\r\n\r\n" * 10
"""Requests that somebody sends again and again, and whose answers nobody reads."""

_RECEIVED = 4096
"""About how many bytes of answers wait with the deaf ones' kernel, so that the rest stays with the service."""

Deed = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


@dataclass
class Strangers:
    """So many of each kind, at one port of this machine. `came` and `answers` count connections and statuses."""

    port: int
    dripping: int
    silent: int
    deaf: int
    came: Counter[str] = field(default_factory=Counter[str])
    answers: Counter[str] = field(default_factory=Counter[str])
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def about(self) -> Generator[None]:
        """Let them come, and come again when they are let go, until the end of the block."""
        _allow_descriptors(self.dripping + self.silent + self.deaf + 256)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_until_complete, args=(self._all(),), daemon=True)
        thread.start()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(self._over.set)
            thread.join(PATIENCE)
            loop.close()

    def await_all(self, times: int) -> None:
        """Wait until there were so many visits of each kind as if each stranger had come so often."""
        eventually(lambda: self._expect_all(times))

    def summary(self) -> str:
        """Return who came how often, and what the dripping ones were answered."""
        kinds = {"dripping": self.dripping, "silent": self.silent, "deaf": self.deaf}
        came = ", ".join(f"{count} {kind} ({self.came[kind]} connections)" for kind, count in kinds.items())
        return f"{came}; answers: {dict(self.answers)}"

    def _expect_all(self, times: int) -> None:
        wanted = {"dripping": self.dripping, "silent": self.silent, "deaf": self.deaf}
        assert all(self.came[kind] >= times * count for kind, count in wanted.items()), self.came

    async def _all(self) -> None:
        kinds: dict[str, tuple[int, Deed]] = {
            "dripping": (self.dripping, self._drip),
            "silent": (self.silent, self._say_nothing),
            "deaf": (self.deaf, self._read_nothing),
        }
        tasks = [
            asyncio.create_task(self._come_again(kind, action))
            for kind, (count, action) in kinds.items()
            for _ in range(count)
        ]
        await self._over.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _come_again(self, kind: str, action: Deed) -> None:
        while not self._over.is_set():
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(sock=await self._connected(kind))
                self.came[kind] += 1
                try:
                    await action(reader, writer)
                finally:
                    writer.transport.abort()
            await self._is_over_after(AWAY)

    async def _connected(self, kind: str) -> socket.socket:
        connection = socket.socket()
        try:
            connection.setblocking(False)  # noqa: FBT003  its own name says it
            if kind == "deaf":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED)
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        except BaseException:
            connection.close()
            raise
        return connection

    async def _drip(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send a webhook that looks signed: all but its last thousand bytes at once, and then a byte at a time."""
        signature = f"t={int(time.time())},v1={'0' * 64}"  # noqa: TID251  it must look fresh to the service
        writer.write(
            b"POST /guided/api/webhook HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\nStripe-Signature: %b\r\n\r\n" % (BODY, signature.encode())
        )
        writer.write(b"x" * (BODY - 1000))
        answer = asyncio.create_task(reader.readline())
        try:
            while not answer.done():
                writer.write(b"x")
                if await self._is_over_after(PAUSE):
                    return
            self.answers[answer.result()[9:12].decode() or "cut off"] += 1
        except OSError:
            self.answers["cut off"] += 1
        finally:
            answer.cancel()

    async def _say_nothing(self, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async def _read_nothing(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(writer.transport, asyncio.Transport)
        writer.transport.pause_reading()
        while not writer.is_closing():
            writer.write(UNREAD)
            if await self._is_over_after(PAUSE):
                return

    async def _is_over_after(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)
        return self._over.is_set()


def most_memory(process: int) -> int:
    """Return the most bytes of memory that a process had at any moment since it began."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def _allow_descriptors(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))


MOST = 200 * 1024 * 1024
"""Bytes of memory that the service may ever take."""

COUNTS = (800, 1200, 400) if SOAKING else (120, 120, 20)
"""How many strangers drip bodies, say nothing, and read nothing."""


def test_buyers_buy_among_strangers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Strangers are let go and come again, buyers get their access all the while, and the log says it briefly."""
    shop, bought = Deployment(tmp_path), 0
    strangers = Strangers(shop.ports[0], *COUNTS)
    with beside_a_sandbox(shop):
        service = shop.start_service()
        shop.await_reconciled()
        with strangers.about():
            for visits in (1, 2):
                strangers.await_all(visits)
                for _ in range(rounds(2)):
                    visitor = Visitor(shop)
                    # As a browser does, they try again when a connection that they kept is gone.
                    visitor.await_access(eventually(visitor.buy))
                    bought += 1
        highest = most_memory(service.process.pid)
    with capsys.disabled():
        if SOAKING:
            sys.stdout.write(f"\n{strangers.summary()}; {bought} sales; highest memory {highest >> 20} MiB\n")
    assert highest < MOST
    lines = [line for line in shop.printed().splitlines() if "are closed" in line]
    assert 0 < 10 * len(lines) < strangers.came.total()
