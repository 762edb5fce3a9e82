"""A program that `test_postgres_snapshots.py` starts, and kills: `snapshot_worker.py MODE DATABASE FILE ROWS`.

It saves the store in a database, brings it back, or makes one for a trial; it prints `there`, after so many rows,
and waits for a line.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite import reading_snapshot, write_snapshot
from orrery.ports.store import StoreContents, StoredRow
from tests.support.store_worker import say


def halting(contents: StoreContents, rows: int) -> StoreContents:
    """Return the same, read no further than so many rows until a line comes."""
    return replace(contents, rows=chain(islice(contents.rows, rows), halted(), contents.rows))


def halted() -> Iterator[StoredRow]:
    """Yield nothing, once the test has seen that we are there."""
    say("there")
    sys.stdin.readline()
    yield from ()


if __name__ == "__main__":
    mode, database, file, rows = sys.argv[1:]
    place = PostgresDatabase(database, SystemClock())
    if mode == "backup":
        with place.reading() as found:
            write_snapshot(halting(found, int(rows)), Path(file), place)
    elif mode == "scratch":
        with place.scratch():
            list(halted())
    else:
        with reading_snapshot(Path(file)) as found:
            place.replace(halting(found, int(rows)))
    say("done")
