"""A program that the crash tests start, and kill: `store_worker.py MODE STORE [ARGUMENT]`.

It says `ready`, waits for a line, does what MODE names, and prints what it knows to be stored.
"""

import asyncio
import fcntl
import os
import resource
import sqlite3
import sys
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.store_place import file_place, put_in_place
from orrery.errors import Invalid, OutcomeUnknown
from orrery.ports.store import Absent, Committed, Put

CALLERS = 4
PARTS = ("a", "b", "c")
RACED_KEYS = 200


def say(text: str) -> None:
    """Print a line in one write, so that a kill cannot halve it."""
    os.write(1, f"{text}\n".encode())


def await_go() -> None:
    """Tell the test that we are up, and wait for it."""
    say("ready")
    sys.stdin.readline()


async def race(path: Path, name: str) -> None:
    """Try to be the first to put each of the raced keys; print those that were won."""
    async with Opened(path) as store:
        await_go()
        for number in range(RACED_KEYS):
            key = f"raced:{number}"
            if isinstance(await store.commit([Put(key, name.encode())], [Absent(key)]), Committed):
                say(key)


async def hammer(path: Path, name: str) -> None:
    """Commit sets of three keys for ever; print the number of each that was acknowledged."""
    async with Opened(path) as store:
        await_go()
        await asyncio.gather(*(_hammer(store, f"{name}:{caller}") for caller in range(CALLERS)))


async def _hammer(store: SqliteStore, name: str) -> None:
    number = 0
    while True:
        await store.commit([Put(f"set:{name}:{number:06}:{part}", b"x" * 500) for part in PARTS])
        say(f"{name}:{number:06}")
        number += 1


async def cramped(path: Path, _: str) -> None:
    """Commit where no file may grow, then with room again under the same id; print both outcomes."""
    async with Opened(path) as store:
        await_go()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = path.with_name(f"{path.name}-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10_000, hard))
        try:
            await store.commit([Put("large", b"x" * 50_000)])
        except OutcomeUnknown as error:
            say(str(error))
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            outcome = await store.commit([Put("large", b"x" * 50_000)], commit_id=error.commit_id)
            again = await store.commit([Put("large", b"no")], commit_id=error.commit_id)
            say(f"{type(outcome).__name__} {outcome == again}")


async def without_handles(path: Path, _: str) -> None:
    """Commit where this process may open no more files; print the outcome."""
    async with Opened(path) as store:
        await store.commit([Put("first", b"")])  # opens what the writer needs
        await_go()
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        with ExitStack() as held:
            with suppress(OSError):
                while True:
                    held.callback(os.close, os.dup(1))
            say(type(await store.commit([Put("second", b"")])).__name__)


async def put_back(path: Path, snapshot: str) -> None:
    """Restore the snapshot."""
    await_go()
    put_in_place(Path(snapshot), file_place(path))
    say("restored")


async def lock(path: Path, argument: str) -> None:
    """Hold the lock of a writer, or `alone` the whole file, as another program might, until told to let go."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        if argument == "alone":
            database.execute("PRAGMA locking_mode = exclusive")
        database.execute("BEGIN EXCLUSIVE")
        await_go()
    say("released")


async def lock_index(path: Path, _: str) -> None:
    """Hold every lock of the log's index, as a program does that was stopped in its recovery, until told.

    The locks are eight bytes behind the index's header (SQLite's documentation, "WAL-mode File Format", 2.3.1).
    """
    with path.with_name(f"{path.name}-shm").open("r+b") as index:
        fcntl.lockf(index, fcntl.LOCK_EX, 8, 120)
        await_go()
    say("released")


async def peek(path: Path, _: str) -> None:
    """Read the file as another program might, and keep it open."""
    with closing(sqlite3.connect(path)) as database:
        await_go()
        say(str(database.execute("SELECT count(*) FROM entries").fetchone()))
        sys.stdin.readline()


class Opened:
    """The store at a path, made unless it is there, and open for the length of a block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def __aenter__(self) -> SqliteStore:
        with suppress(Invalid):  # it is there, perhaps made just now by another process
            await asyncio.to_thread(create, self._path)
        self._store = await SqliteStore.open(self._path, SystemClock())
        return self._store

    async def __aexit__(self, *_: object) -> None:
        await self._store.close()


MODES = {
    "race": race,
    "hammer": hammer,
    "cramped": cramped,
    "without_handles": without_handles,
    "put_back": put_back,
    "lock": lock,
    "lock_index": lock_index,
    "peek": peek,
}

if __name__ == "__main__":
    mode, store_path, argument = sys.argv[1:]
    asyncio.run(MODES[mode](Path(store_path), argument))
