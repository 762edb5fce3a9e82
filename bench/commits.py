"""Commits in PostgreSQL: by the store, and by pgbench, which inserts the same rows into the same table."""

import asyncio
import os
import re
import resource
import subprocess
import time
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.managers import SyncManager
from pathlib import Path
from threading import Barrier

from bench.bare_sqlite import VALUE
from bench.service import processor_seconds
from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres import PostgresStore, create
from orrery.ports.store import Absent, Committed, Put, Store
from tests.support.postgres import PROGRAMS, Server

KEYS, CHECKS = 11, 3

_KEY = " || ".join(["int8send(:key{0})"] * 4)  # as many bytes as the store's
_ROWS = ", ".join(f"({_KEY.format(number)}, :value::bytea, 1)" for number in range(KEYS))
_RANDOM = [f"\\set key{number} random(1, 9223372036854775806)" for number in range(KEYS)]
_INSERT = f"INSERT INTO orrery_entries (key, value, version) VALUES {_ROWS}"  # noqa: S608  nobody's input
_OVER = "ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version;"
_SCRIPT = "\n".join((*_RANDOM, f"{_INSERT} {_OVER}"))


@dataclass(frozen=True, slots=True)
class Commits:
    """Commits a second, and the microseconds of processor time of one: of the database, and of its clients."""

    speed: float
    database: float
    clients: float


def database_seconds(primary: Server) -> float:
    """Return the processor time of all processes of a server so far."""
    assert primary.process  # noqa: S101  it runs
    return processor_seconds(primary.process.pid)


def by_pgbench(primary: Server, folder: Path, clients: int, commits: int) -> Commits:
    """Measure pgbench, each of whose clients has a connection of its own; their first commits do not count."""
    script = folder / "insert.sql"
    script.write_text(_SCRIPT)
    options = ("-n", "-M", "prepared", "-j", "2", "-c", str(clients), "-D", f"value={VALUE.decode()}")
    with _new_table(primary) as address:
        command = (str(PROGRAMS[-1] / "pgbench"), *options, "-f", str(script), address)
        _, *first = _printed(primary, *command, "-t", "1")
        speed, *whole = _printed(primary, *command, "-t", str(1 + commits // clients))
    return _of_one(speed, *(one - other for one, other in zip(whole, first, strict=True)))


def _printed(primary: Server, *command: str) -> tuple[float, float, float, float]:
    """Return what a second is said to have, how many commits there were, and seconds of processor time for all."""
    spent, before = database_seconds(primary), resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  the distribution's
    spent, after = database_seconds(primary) - spent, resource.getrusage(resource.RUSAGE_CHILDREN)
    count, speed = (float(found) for found in re.findall(r"(?:actually processed: |tps = )([\d.]+)", text))
    return speed, count, spent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def processes() -> Generator["Processes"]:
    """Yield two processes for the callers of the store."""
    context = get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(2, context) as pool:
        yield Processes(pool, manager)


@dataclass(frozen=True, slots=True)
class Processes:
    """Processes that begin together."""

    pool: ProcessPoolExecutor
    manager: SyncManager

    def by_store(self, primary: Server, count: int, callers: int, commits: int) -> Commits:
        """Measure the store, with so many callers in each of so many processes."""
        opened = self.manager.Barrier(count + 1)
        with _new_table(primary) as address:
            running = [self.pool.submit(_run, address, callers, commits // count, opened) for _ in range(count)]
            opened.wait()
            spent = database_seconds(primary)
            done = [one.result() for one in running]
            spent = database_seconds(primary) - spent
        return _of_one(sum(speed for speed, _ in done), commits, spent, sum(used for _, used in done))


def _of_one(speed: float, count: float, *seconds: float) -> Commits:
    # The kernel counts in steps of 10 ms: of few commits, the difference of two runs may be below nothing.
    return Commits(speed, *(max(one, 0) / count * 1_000_000 for one in seconds))


@contextmanager
def _new_table(primary: Server) -> Generator[str]:
    """Yield the address of a new store; nothing is left to do for the server of what was before and after it."""
    schema = primary.new_schema()
    address = primary.address(schema)
    create(address)
    try:
        yield address
    finally:
        with primary.connected() as connection:
            connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())
            connection.execute("CHECKPOINT")


def _run(address: str, callers: int, commits: int, opened: Barrier) -> tuple[float, float]:
    return asyncio.run(_committed(address, callers, commits, opened))


async def _committed(address: str, callers: int, commits: int, opened: Barrier) -> tuple[float, float]:
    """Return how many commits were made in a second, and the processor's seconds for all."""
    store = await PostgresStore.open(address, SystemClock())
    await _commit(store)
    numbers = iter(range(commits))

    async def call() -> None:
        for _ in numbers:
            await _commit(store)

    await asyncio.to_thread(opened.wait)
    begin, before = time.perf_counter(), time.process_time()
    await asyncio.gather(*(call() for _ in range(callers)))
    took, used = time.perf_counter() - begin, time.process_time() - before
    await store.close()
    return commits / took, used


async def _commit(store: Store) -> None:
    keys = [os.urandom(16).hex() for _ in range(KEYS)]
    outcome = await store.commit([Put(key, VALUE) for key in keys], [Absent(key) for key in keys[:CHECKS]])
    if not isinstance(outcome, Committed):
        raise TypeError("A key of the benchmark was there already.")
