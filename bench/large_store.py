"""A store with many sales of a year: one that the service made, again and again with other ids and times."""

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
from orrery.runtime.collection import Walk, sortable

WAITING = 20
"""Of so many sales of the last month the messages of one wait; those of the others were delivered."""

MONTHS = 12
"""In which all sales were made, as many in each: the sales of the last one have numbers that it divides."""

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
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d{6})?Z|\d{8}T\d{6}\.\d{6}Z")
_DAYS = 30
"""Of a month, as long as a delivered message is kept."""


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
        _ = await store.commit([one for number in batch for one in _sale(pattern, number, clock.now())])
    await store.close()


def named(number: int) -> str:
    """Return the session of a sale that `multiply` made."""
    return f"{_SALE}{number:07}"


def number_of(session: str) -> int:
    """Return which of these sales a session is."""
    return int(session.removeprefix(_SALE))


def _sale(pattern: list[StoreEntry], number: int, now: datetime) -> Iterator[Write]:
    session, months, day = named(number), number % MONTHS, number // MONTHS % _DAYS
    age = timedelta(days=_DAYS * months + day)
    for entry in pattern:
        key = _DIGEST.sub(f"{number:064x}", _earlier(entry.key.replace(PATTERN, session), age))
        value = _earlier(entry.value.decode().replace(PATTERN, session), age).encode()
        if not entry.key.startswith("outbox"):
            yield Put(key, value)
        elif entry.key.startswith(outbox.ROW) and not months:
            row = outbox.Notification.from_bytes(value)
            if number % (MONTHS * WAITING):
                delivered = row.change(state="delivered", attempts=1, last_error=None)
                yield Put(key, delivered.to_bytes(), outbox.KEEP_DELIVERED - age)
            else:
                yield from outbox.enqueue(
                    [outbox.OutboxDraft(row.id, row.channel, row.title, row.body, row.to)], now
                )


def _earlier(text: str, age: timedelta) -> str:
    """Return a key or a record with earlier times."""

    def at(found: re.Match[str]) -> str:
        time = datetime.fromisoformat(found[0]) - age
        return time.isoformat().replace("+00:00", "Z") if "-" in found[0] else sortable(time)

    return _TIME.sub(at, text)
