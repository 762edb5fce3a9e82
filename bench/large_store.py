"""A store with many sales: one that the service made, again and again under other ids."""

import asyncio
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from bench.service import Service
from bench.webhook import deliver, request
from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.ports.store import Put, StoreEntry, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Walk

WAITING = 20
"""Of so many sales the messages of one wait; those of the others were delivered."""

PATTERN = "cs_test_pattern"
"""The session of the sale that the others are made of."""

UNDELIVERABLE = """
[push]
url = "http://127.0.0.1:9"
topic = "owner"
[mail]
host = "127.0.0.1"
port = 9
security = "none"
sender = "shop@northwind.example"
"""
"""Where nothing listens: what waits goes on waiting."""

_BATCH = 500
_SALE = "cs_test_sale"
_DIGEST = re.compile(r"[0-9a-f]{64}")


def sell(service: Service, sessions: list[str]) -> None:
    """Let the service take a payment of each of these sessions, which must have been offered."""
    _ = asyncio.run(deliver([request(one, service.port) for one in sessions], service.port, len(sessions)))


async def multiply(path: Path, sales: int, first: int = 0) -> None:
    """Put sales into the store at `path`, which has that of `PATTERN`: from number `first` up to `sales`."""
    clock = SystemClock()
    store = await SqliteStore.open(path, clock)
    pattern = [one async for one in Walk("").entries(store, clock) if PATTERN in one.key]
    for start in range(first, sales, _BATCH):
        batch = range(start, min(start + _BATCH, sales))
        _ = await store.commit(
            [one for number in batch for one in _sale(pattern, number, clock.now(), waits=not number % WAITING)]
        )
    await store.close()


def named(number: int) -> str:
    """Return the session of a sale that `multiply` made."""
    return f"{_SALE}{number:07}"


def number_of(session: str) -> int:
    """Return which of these sales a session is."""
    return int(session.removeprefix(_SALE))


def _sale(pattern: list[StoreEntry], number: int, now: datetime, *, waits: bool) -> Iterator[Write]:
    session = named(number)
    for entry in pattern:
        key = _DIGEST.sub(f"{number:064x}", entry.key.replace(PATTERN, session))
        value = entry.value.replace(PATTERN.encode(), session.encode())
        if not entry.key.startswith("outbox"):
            yield Put(key, value)
        elif entry.key.startswith(outbox.ROW):
            row = outbox.Notification.from_bytes(value).change(due_at=now)
            if waits:
                yield from outbox.enqueue(
                    [outbox.OutboxDraft(row.id, row.channel, row.title, row.body, row.to)], now
                )
            else:
                yield Put(key, row.change(state="delivered", attempts=1).to_bytes(), timedelta(days=30))
