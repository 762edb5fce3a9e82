"""The store in PostgreSQL beside pgbench, which inserts the same rows into the same table, and webhooks on it.

Every commit puts eleven random keys with 300 bytes each; the store's checks three of them and keeps an id, too.
Primary and standby are servers on this machine that flush what they commit; their data is in the folder for
temporary files. The processor time of the database is that of the primary, with all of its processes: 64 clients
of pgbench have 64 of them, and the store has one for each of its processes. A webhook over HTTP is measured beside
the same on SQLite; on PostgreSQL it takes processor time of the service, which is Python's, and of the database.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.commits import Commits, Processes, by_pgbench, database_seconds, processes
from bench.events import request
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import LOAD_CORE, bound_to, prepare, serving
from bench.webhook import CONNECTIONS, Load, many_at_once, offer_sessions
from tests.support.postgres import PROGRAMS, Server, Setup, a_pair

_DURABLE = Setup("shared_buffers = 128MB\nmax_wal_size = 4GB", segment=16)
_MANY, _ONE = "pgbench, 64 clients", "pgbench, 1 client"
_WEBHOOK, _COST = f"webhook to 200, {CONNECTIONS} at once", "processor time of a webhook"


def of_commits(primary: Server, folder: Path, together: Processes, many: int, one: int) -> Iterator[Figure]:
    """Measure pgbench and the store in turn, with many callers and with one."""
    yield from _figures(_MANY, by_pgbench(primary, folder, 64, many))
    both = together.by_store(primary, 2, 32, many)
    yield from _figures("store, 2 processes of 32 callers", both, _MANY, (0.6, 0.65))
    yield from _figures("store, 64 callers", together.by_store(primary, 1, 64, many), _MANY)
    yield from _figures(_ONE, by_pgbench(primary, folder, 1, one))
    yield from _figures("store, 1 caller", together.by_store(primary, 1, 1, one), _ONE, (1 / 1.5, None))


def _figures(
    name: str, found: Commits, beside: str = "", aims: tuple[float | None, float | None] = (None, None)
) -> Iterator[Figure]:
    """Yield the figures of a side; the aims are for its speed, and for the database's processor time."""
    database = "processor time of the database"
    yield Figure(name, found.speed, "a second", beside, aims[0])
    yield Figure(f"{database}, {name}", found.database, "µs", beside and f"{database}, {beside}", aims[1])
    yield Figure(f"processor time of the client, {name}", found.clients, "µs")


def without_standby(figure: Figure) -> Figure:
    """Return a figure that was found without a standby; nothing is aimed at there."""
    name, beside = (text and f"{text}, no standby" for text in (figure.name, figure.beside))
    return replace(figure, name=name, beside=beside, aim=None)


def of_webhooks(primary: Server, folder: Path, webhooks: int) -> Iterator[Figure]:
    """Measure webhooks over HTTP on SQLite, and then on PostgreSQL."""
    address = f"postgresql://orrery@127.0.0.1:{primary.port}/postgres"
    file, _ = _delivered(prepare(folder / "file"), primary, webhooks)
    ours, database = _delivered(prepare(folder / "database", database=address), primary, webhooks)
    yield Figure(f"{_WEBHOOK}, SQLite", file.speed, "a second")
    yield Figure(f"{_WEBHOOK}, PostgreSQL", ours.speed, "a second", f"{_WEBHOOK}, SQLite")
    yield Figure(f"{_COST}, SQLite", file.cost, "ms")
    yield Figure(f"{_COST}, PostgreSQL: service", ours.cost, "ms", f"{_COST}, SQLite")
    yield Figure(f"{_COST}, PostgreSQL: database", database, "ms")
    yield Figure(f"{_COST}, PostgreSQL: Python's share", 100 * ours.cost / (ours.cost + database or 1), "%")


def _delivered(settings: Path, primary: Server, webhooks: int) -> tuple[Load, float]:
    """Return the load, and the milliseconds of the database's processor time for a webhook."""
    sessions = [f"cs_test_bench{number}" for number in range(webhooks)]
    asyncio.run(offer_sessions(settings, sessions))
    with serving(settings) as service, bound_to(LOAD_CORE):
        before = database_seconds(primary)
        load = many_at_once(service, [request(one, service.port) for one in sessions])
        return load, (database_seconds(primary) - before) / webhooks * 1000


def measure(many: int = 16_000, one: int = 2_000, webhooks: int = 2_000) -> Round:
    """Measure so many commits with a standby that each waits for, and without one, and webhooks with one."""
    with scratch() as folder, processes() as together, a_pair(_DURABLE) as (primary, standby):
        found = [*of_commits(primary, folder, together, many, one), *of_webhooks(primary, folder, webhooks)]
        primary.wait_for_none()
        standby.stop()
        return [*found, *map(without_standby, of_commits(primary, folder, together, many, one))]


def refused() -> str:
    """Say that there is no server."""
    return "" if PROGRAMS else "PostgreSQL is not installed; to have it, type: sudo apt-get install -y postgresql"


MEASUREMENT = Measurement(measure, short={"many": 640, "one": 40, "webhooks": 40}, rounds=3, refused=refused)
