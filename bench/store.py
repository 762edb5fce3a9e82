"""What durability costs: the store beside bare SQLite on the same disk, in one run.

Prints medians and, because machines differ, each as a share of the first. Asserts nothing.
"""

import asyncio
import itertools
import statistics
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
from rich.table import Table

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.ports.store import Absent, Committed, Put, Store
from orrery.runtime.console.terminal import new_console

ROUNDS = 7
"""Every side is measured so often, in turn, so that a slow minute of the machine hits all of them."""

COMMITS = 1_000
"""Commits in one measurement."""

KEYS = 7
"""As many keys as the commit of a completed payment writes (decision 9)."""

CALLERS = 32
"""Callers at once where commits can share a trip to the disk."""

VALUE = b"x" * 300


class Bare:
    """SQLite and nothing else: put-if-absent with the store's durability."""

    def __init__(self, path: Path) -> None:
        self._database = apsw.Connection(str(path))
        self._run("PRAGMA journal_mode = wal")
        self._run("PRAGMA synchronous = full")
        self._run("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL)")

    def put_if_absent(self, keys: list[str]) -> None:
        """Put `keys` in one transaction, each only if it is not there."""
        self._run("BEGIN IMMEDIATE")
        for key in keys:
            self._run("INSERT INTO entries VALUES (?, ?, 1) ON CONFLICT DO NOTHING", (key.encode(), VALUE))
        self._run("COMMIT")

    def measure(self, word: str, keys: int) -> float:
        """Return transactions of `keys` keys a second."""
        begin = time.perf_counter()
        for number in range(COMMITS):
            self.put_if_absent([f"{word}:{number}:{key}" for key in range(keys)])
        return COMMITS / (time.perf_counter() - begin)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _run(self, statement: str, bindings: tuple[bytes, ...] = ()) -> None:
        self._database.execute(statement, bindings)  # pyright: ignore[reportUnknownMemberType]  apsw's stubs, 3.11


async def put_if_absent(store: Store, keys: list[str]) -> None:
    """Put `keys` in one commit, if none of them is there."""
    outcome = await store.commit([Put(key, VALUE) for key in keys], [Absent(key) for key in keys])
    if not isinstance(outcome, Committed):
        raise TypeError("A key of the benchmark was there already.")


async def measure(store: Store, word: str, *, callers: int, keys: int) -> float:
    """Return commits of `keys` keys a second by `callers` at once."""
    numbers = iter(range(COMMITS))

    async def call() -> None:
        for number in numbers:
            await put_if_absent(store, [f"{word}:{number}:{key}" for key in range(keys)])

    begin = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    return COMMITS / (time.perf_counter() - begin)


async def sides(directory: Path) -> dict[str, list[float]]:
    """Measure every side `ROUNDS` times, in turn."""
    results: dict[str, list[float]] = {}
    create(directory / "store.db")
    store = await SqliteStore.open(directory / "store.db", SystemClock())
    with closing(Bare(directory / "bare.db")) as bare:
        for number in range(ROUNDS):
            words = (f"{number}.{side}" for side in itertools.count())
            found = {
                "bare SQLite, 1 key": bare.measure(next(words), 1),
                f"bare SQLite, {KEYS} keys": bare.measure(next(words), KEYS),
                "store, 1 key, 1 caller": await measure(store, next(words), callers=1, keys=1),
                f"store, {KEYS} keys, 1 caller": await measure(store, next(words), callers=1, keys=KEYS),
                f"store, 1 key, {CALLERS} callers": await measure(store, next(words), callers=CALLERS, keys=1),
                f"store, {KEYS} keys, {CALLERS} callers": await measure(
                    store, next(words), callers=CALLERS, keys=KEYS
                ),
            }
            for side, speed in found.items():
                results.setdefault(side, []).append(speed)
    await store.close()
    return results


def table(results: dict[str, list[float]]) -> Table:
    """Return the medians, and each as a share of the first."""
    made = Table(title="Durable put-if-absent commits", caption=f"median of {ROUNDS} rounds of {COMMITS}")
    made.add_column("side")
    for heading in ("a second", "each, ms", "share"):
        made.add_column(heading, justify="right")
    medians = {side: statistics.median(speeds) for side, speeds in results.items()}
    first = next(iter(medians.values()))
    for side, speed in medians.items():
        made.add_row(side, f"{speed:,.0f}", f"{1000 / speed:.3f}", f"{speed / first:.2f}")
    return made


def main() -> None:
    """Measure beside the current directory's disk, and print the table."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        results = asyncio.run(sides(Path(directory)))
    new_console(soft_wrap=False).print(table(results))


if __name__ == "__main__":
    main()
