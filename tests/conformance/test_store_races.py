"""What a store promises to several processes at once, with engines that break it as controls."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite.place import SqliteFile
from orrery.app.store_races import RACES, raced
from orrery.ports.store import StorePlace
from tests.support.postgres import Server
from tests.support.soak import SOAKING, rounds
from tests.support.waiting import eventually

PROCESSES = 3
SIZE = rounds(60)


def test_a_store_in_a_file(tmp_path: Path) -> None:
    """SQLite keeps its promises to three processes."""
    place = SqliteFile(tmp_path / "store.db", SystemClock())
    place.create()
    assert dict(raced([place] * PROCESSES, SIZE)) == {name: [] for name in RACES}


def test_a_store_in_a_database(postgres: Server) -> None:
    """PostgreSQL keeps them through the adapter."""
    place = PostgresDatabase(postgres.address(postgres.new_schema()), SystemClock())
    place.create()
    assert dict(raced([place] * PROCESSES, SIZE)) == {name: [] for name in RACES}


@pytest.mark.parametrize("in_the_statement", ["pg_advisory_xact_lock(1)", *(["pg_sleep(0)"] if SOAKING else [])])
def test_an_engine_whose_commits_do_not_wait_is_found(postgres: Server, in_the_statement: str) -> None:
    """With a lock that the reading statement takes itself, and in a soak with none, every race but one is lost."""
    found = set[str]()

    def look() -> None:
        found.update(name for name, wrong in raced(without_turn(postgres, in_the_statement), 15) if wrong)
        assert found == RACES.keys() - {"torn commit"}  # each of its transactions is whole

    eventually(look)


def without_turn(postgres: Server, in_the_statement: str) -> Sequence[StorePlace]:
    """Make a store whose processes each lock a row of their own, and do something after they have read."""
    shared = postgres.new_schema()
    PostgresDatabase(postgres.address(shared), SystemClock()).create()
    own = [postgres.new_schema() for _ in range(PROCESSES)]
    with postgres.connected() as connection:
        for schema in own:
            connection.execute(f"CREATE TABLE {schema}.orrery_store AS TABLE {shared}.orrery_store".encode())
        connection.execute(_TRIGGER.format(schema=shared, statement=in_the_statement).encode())
    return [PostgresDatabase(postgres.address(schema, shared), SystemClock()) for schema in own]


_TRIGGER = """
CREATE FUNCTION {schema}.act() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM {statement}; PERFORM pg_sleep(0.01); RETURN NULL; END $$;
CREATE TRIGGER act BEFORE INSERT ON {schema}.orrery_commits FOR EACH STATEMENT EXECUTE FUNCTION {schema}.act();
"""
