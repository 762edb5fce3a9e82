"""How soon `orrery serve` answers after a `kill -9`, over a new store and over a large one.

Nothing that is read before the first answer grows with the store. Messages wait for servers that are away.
"""

import asyncio
import time
from pathlib import Path

from bench.large_store import PATTERN, UNDELIVERABLE, multiply, sell
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import megabytes, prepare, serving
from bench.webhook import offer_sessions


def killed(settings: Path, sessions: list[str], rest: float) -> tuple[float, float]:
    """Kill a service that has just sold these sessions; return the seconds and megabytes of the next start."""
    with serving(settings) as service:
        sell(service, sessions)
        service.process.kill()
    with serving(settings) as service:
        time.sleep(rest)  # noqa: TID251  at rest means left alone
        return service.started_in, megabytes(service.process.pid)


def measure(sales: int = 100_000, unfolded: int = 60, rest: float = 3.0) -> Round:
    """Measure a new store, and the same with many sales."""
    few, more = ([f"cs_test_{which}{number}" for number in range(unfolded)] for which in ("few", "more"))
    with scratch() as folder:
        settings, store = prepare(folder / "service", more=UNDELIVERABLE), folder / "service/orrery.db"
        asyncio.run(offer_sessions(settings, [PATTERN, *few, *more]))
        small = killed(settings, [PATTERN, *few], rest)
        asyncio.run(multiply(store, sales))
        large = killed(settings, more, rest)
    first = "first 200 after a kill, new store"
    return [
        Figure(first, small[0], "s"),
        Figure(f"first 200 after a kill, {sales:,} sales", large[0], "s", first, limit=2.0),
        Figure("memory after it, new store, PSS", small[1], "MB"),
        Figure(f"memory after it, {sales:,} sales, PSS", large[1], "MB"),
    ]


MEASUREMENT = Measurement(measure, short={"sales": 10, "unfolded": 2, "rest": 0.0}, rounds=3)
