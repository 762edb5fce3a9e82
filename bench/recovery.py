"""How soon `orrery serve` answers after a `kill -9`, over an empty store and over a large one.

Nothing that is read before the first answer grows with the store. Messages wait for servers that are away.
"""

import asyncio
import time
from pathlib import Path

from bench.large_store import PATTERN, multiply, sell
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import megabytes, prepare, serving
from bench.webhook import offer_sessions

_UNDELIVERABLE = """
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


def killed(folder: Path, sales: int, unfolded: int, rest: float) -> tuple[float, float]:
    """Kill a service over a store with sales and with a log to recover; return the next start's seconds and MB."""
    sessions = [f"cs_test_{number}" for number in range(unfolded)]
    settings, store = prepare(folder, more=_UNDELIVERABLE), folder / "orrery.db"
    asyncio.run(offer_sessions(store, [PATTERN, *sessions]))
    if sales:
        with serving(settings) as service:
            sell(service, [PATTERN])
        asyncio.run(multiply(store, sales))
    with serving(settings) as service:
        sell(service, sessions)
        service.process.kill()
    with serving(settings) as service:
        time.sleep(rest)  # noqa: TID251  at rest means left alone
        return service.started_in, megabytes(service.process.pid)


def measure(sales: int = 100_000, unfolded: int = 60, rest: float = 3.0) -> Round:
    """Measure both stores."""
    with scratch() as folder:
        empty = killed(folder / "empty", 0, unfolded, rest)
        large = killed(folder / "large", sales, unfolded, rest)
    first = "first 200 after a kill, empty store"
    return [
        Figure(first, empty[0], "s"),
        Figure(f"first 200 after a kill, {sales:,} sales", large[0], "s", first, limit=2.0),
        Figure("memory after it, empty store, PSS", empty[1], "MB"),
        Figure(f"memory after it, {sales:,} sales, PSS", large[1], "MB"),
    ]


MEASUREMENT = Measurement(measure, short={"sales": 10, "unfolded": 2, "rest": 0.0}, rounds=3)
