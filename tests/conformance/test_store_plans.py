"""How PostgreSQL carries out a commit: by key, whatever the tables held when the plan was made."""

import asyncio

import pytest

from orrery.adapters.postgres import PostgresStore, create
from orrery.ports.store import Absent, Delete, Put
from tests.support.clock import START, ManualClock
from tests.support.postgres import Server
from tests.support.waiting import eventually

PARTS = ("a", "b", "c")
CALLERS, ROUNDS = 8, 40

_FILLED = """
INSERT INTO {schema}.orrery_commits
  SELECT decode(md5(i::text), 'hex'), i, extract(epoch FROM timestamptz '{now}') * 1000000
  FROM generate_series(1, {rows}) i;
INSERT INTO {schema}.orrery_entries
  SELECT decode(md5(i::text), 'hex'), '', i FROM generate_series(1, {rows}) i;
"""
_VACUUMED = "VACUUM ANALYZE {schema}.orrery_commits, {schema}.orrery_entries"
_READ = """
SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '{schema}')
  + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = '{schema}' AND relname <> 'orrery_store')
"""


@pytest.mark.parametrize("rows", [0, 5000])
async def test_a_commit_reads_what_it_names_and_no_more(postgres: Server, rows: int) -> None:
    """A plan is kept while the tables grow, so one that reads a small table whole reads a large one, too."""
    schema = postgres.new_schema()
    create(postgres.address(schema))
    asked(postgres, _FILLED, schema, rows)
    asked(postgres, _VACUUMED, schema)
    await asyncio.to_thread(eventually, lambda: has_no_snapshot(postgres))
    before = asked(postgres, _READ, schema)
    commits = await committed(postgres.address(schema))
    await asyncio.to_thread(eventually, lambda: has_ended(postgres))  # the server counts what was read then
    assert asked(postgres, _READ, schema) - before <= commits * (2 * len(PARTS) + 1)


def has_no_snapshot(postgres: Server) -> None:
    """Fail while any session has a snapshot, as an earlier test may leave one: reads meet all that it sees."""
    held = "SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()"
    assert asked(postgres, held) == 0


def has_ended(postgres: Server) -> None:
    """Fail while a store is connected."""
    assert asked(postgres, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'orrery'") == 0


def asked(postgres: Server, statement: str, schema: str = "", rows: int = 0) -> int:
    """Return the first number that the server answers, or 0."""
    with postgres.connected() as connection:
        cursor = connection.execute(statement.format(schema=schema, rows=rows, now=START).encode())
        return int(cursor.fetchall()[0][0]) if cursor.description else 0


async def committed(address: str) -> int:
    """Put, check and delete by many callers, at once and one after another; return how many commits that were."""
    clock = ManualClock()
    store = await PostgresStore.open(address, clock)
    keys = [f"{caller:02}:{part}" for caller in range(CALLERS) for part in PARTS]
    for _ in range(ROUNDS):
        clock.advance(2)  # so that the next commit sweeps
        await asyncio.gather(*(store.commit([Put(key, b"")], [Absent(key)]) for key in keys))
        for caller in range(CALLERS):
            await store.commit([Delete(f"{caller:02}:{part}") for part in PARTS])
    await store.close()
    return ROUNDS * CALLERS * (len(PARTS) + 1)
