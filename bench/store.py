"""What durability costs: the store beside bare SQLite on the same disk.

Many callers share one trip to the disk; one caller alone pays for two changes of thread.
"""

import asyncio
import time
from contextlib import closing
from pathlib import Path

from bench.bare_sqlite import VALUE, Bare
from bench.measurement import Figure, Measurement, Round, scratch
from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.ports.store import Absent, Committed, Put, Store

KEYS = 7
"""Keys of a larger commit."""

CALLERS = 32
"""Callers at once where commits can share a trip to the disk."""


async def put_if_absent(store: Store, keys: list[str]) -> None:
    """Put `keys` in one commit, if none of them is there."""
    outcome = await store.commit([Put(key, VALUE) for key in keys], [Absent(key) for key in keys])
    if not isinstance(outcome, Committed):
        raise TypeError("A key of the benchmark was there already.")


async def speed(store: Store, commits: int, callers: int, keys: int) -> float:
    """Return commits of `keys` keys a second by `callers` at once."""
    numbers = iter(range(commits))

    async def call() -> None:
        for number in numbers:
            await put_if_absent(store, [f"{callers}.{keys}:{number}:{key}" for key in range(keys)])

    begin = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    return commits / (time.perf_counter() - begin)


async def of_store(path: Path, commits: int) -> Round:
    """Return the speeds of the store."""
    create(path)
    store = await SqliteStore.open(path, SystemClock())
    found = [
        Figure(_named(keys, callers), await speed(store, commits, callers, keys), "a second", _bare(1))
        for callers in (1, CALLERS)
        for keys in (1, KEYS)
    ]
    await store.close()
    return found


def _bare(keys: int) -> str:
    return f"bare SQLite, keys a commit: {keys}"


def _named(keys: int, callers: int) -> str:
    return f"store, keys a commit: {keys}, callers: {callers}"


def measure(commits: int = 1_000) -> Round:
    """Measure bare SQLite, and then the store."""
    with scratch() as folder:
        with closing(Bare(folder / "bare.db")) as bare:
            one, many = (bare.measure(str(keys), keys, commits) for keys in (1, KEYS))
        return [
            Figure(_bare(1), one, "a second"),
            Figure(_bare(KEYS), many, "a second", _bare(1)),
            *asyncio.run(of_store(folder / "store.db", commits)),
        ]


MEASUREMENT = Measurement(measure, short={"commits": 40}, rounds=7)
