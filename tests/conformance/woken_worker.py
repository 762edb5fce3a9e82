"""A program that a test freezes and wakes: `woken_worker.py ENGINE ADDRESS`.

It does two jobs under their leases; one commits as a module does, the other past the fence. Each prints its name
when it has begun, writes once a line was given to the program, and prints its name when it has ended.
"""

import asyncio
import os
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite.place import SqliteFile
from orrery.ports.store import Put, Store, StorePlace
from orrery.runtime.collection import write
from orrery.runtime.jobs import Job, Workers
from orrery.runtime.module import Module
from orrery.runtime.own_store import Marked, OwnStore
from orrery.runtime.tasks import to_its_end

MODULE = Module("woken", prefixes=("done:",))


def place_of(engine: str, address: str) -> StorePlace:
    """Return the place of a store."""
    clock = SystemClock()
    return SqliteFile(Path(address), clock) if engine == "sqlite" else PostgresDatabase(address, clock)


async def _work(name: str, store: Store, go: asyncio.Event) -> None:
    os.write(1, f"{name}\n".encode())
    await go.wait()
    _ = asyncio.get_running_loop().remove_reader(0)
    try:
        await to_its_end(write(store, [Put(f"done:{name}", b"woken")]))
    finally:
        os.write(1, f"{name}\n".encode())


async def _run(place: StorePlace) -> None:
    store, go = await place.open(), asyncio.Event()
    asyncio.get_running_loop().add_reader(0, go.set)
    stores = {"fenced": OwnStore(store, MODULE, Marked()), "bare": store}
    jobs = [Job(name, timedelta(days=1), partial(_work, name, one, go)) for name, one in stores.items()]
    await Workers(store, SystemClock(), "woken", jobs).run()


if __name__ == "__main__":
    asyncio.run(_run(place_of(*sys.argv[1:])))
