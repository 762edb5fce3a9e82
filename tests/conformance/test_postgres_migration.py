"""A store in PostgreSQL of the schema before: it is opened, sold on, and migrated while it is in use."""

import asyncio

import psycopg
import pytest

from orrery.adapters.postgres.place import PostgresDatabase
from orrery.errors import Invalid, StoreMissing, StoreUnavailable
from orrery.ports.store import Committed, Put, StoreContents
from tests.conformance.postgres_schema import Schema
from tests.support.clock import ManualClock
from tests.support.postgres import Server

FIRST_RELEASED = """
CREATE TABLE orrery_store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema int NOT NULL,
  epoch bigint NOT NULL,
  seen bigint NOT NULL,
  timeline text NOT NULL
);
CREATE TABLE orrery_entries (
  key bytea PRIMARY KEY,
  value bytea NOT NULL,
  version bigint NOT NULL,
  expires_at bigint
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX orrery_entries_by_expiry ON orrery_entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE orrery_commits (id bytea PRIMARY KEY, version bigint NOT NULL, committed_at bigint NOT NULL);
CREATE INDEX orrery_commits_by_time ON orrery_commits (committed_at);
CREATE SEQUENCE orrery_versions CACHE 1;
INSERT INTO orrery_store (schema, epoch, seen, timeline) VALUES (1, 1, 0, '');
"""
"""The tables as the first release made them."""


@pytest.fixture
def old(postgres: Server) -> Schema:
    """Return a schema with a store of the first release."""
    schema = Schema(postgres, postgres.new_schema())
    schema.change(FIRST_RELEASED)
    return schema


async def test_commits_go_on_over_a_migration(old: Schema, clock: ManualClock) -> None:
    """None fails, and what was there before is there; a second time nothing is left to do."""
    place = PostgresDatabase(old.address, clock)
    async with old.opened(clock) as store:
        await store.commit([Put("first", b"")])
        migrating = asyncio.ensure_future(asyncio.to_thread(place.migrate))
        outcomes = list[object]()
        while not migrating.done():
            outcomes += await asyncio.gather(*(store.commit([Put(f"sale:{n}", b"")]) for n in range(8)))
        assert await migrating == [2]
        outcomes.append(await store.commit([Put("last", b"")]))
        assert all(isinstance(one, Committed) for one in outcomes)
        assert await store.get("first") is not None
    assert await asyncio.to_thread(place.migrate) == []
    assert old.rows("SELECT schema, epoch, closed FROM orrery_store") == [(2, 1, None)]


def test_a_migration_waits_for_the_commit_that_has_the_turn(old: Schema, clock: ManualClock) -> None:
    """It is given up, with a sentence and nothing done, when that takes too long."""
    with psycopg.connect(old.address) as connection:
        connection.execute("SELECT FROM orrery_store FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="locked by another transaction"):
            PostgresDatabase(old.address, clock).migrate()
    assert old.rows("SELECT schema FROM orrery_store") == [(1,)]


def test_a_user_who_does_not_own_the_tables(old: Schema, clock: ManualClock) -> None:
    """A node's user sells and cannot migrate: the sentence names whose address does."""
    node = f"{old.name}_node"
    old.change(f"CREATE ROLE {node} LOGIN; GRANT USAGE ON SCHEMA {old.name} TO {node}")
    old.change(f"GRANT ALL ON ALL TABLES IN SCHEMA {old.name} TO {node}")
    old.change(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {old.name} TO {node}")
    with pytest.raises(StoreUnavailable, match="does not own the store's tables"):
        PostgresDatabase(f"{old.address} user={node}", clock).migrate()


async def test_what_cannot_be_migrated(schema: Schema, clock: ManualClock) -> None:
    """A store of a newer release is neither opened nor migrated; where there is none, none is made."""
    schema.change("UPDATE orrery_store SET schema = 3")
    place = PostgresDatabase(schema.address, clock)
    with pytest.raises(StoreUnavailable, match="schema version 3, and this release reads 1 and 2"):
        await place.open()
    with pytest.raises(StoreUnavailable, match="schema version 3"):
        place.migrate()
    with pytest.raises(StoreMissing):
        PostgresDatabase(schema.server.address(schema.server.new_schema()), clock).migrate()


async def test_a_closed_store(schema: Schema, clock: ManualClock) -> None:
    """It is not opened, read or replaced, and the reason is given."""
    schema.change("UPDATE orrery_store SET closed = 'it was moved to another place'")
    place = PostgresDatabase(schema.address, clock)
    for refused in (place.reading().__enter__, lambda: place.replace(StoreContents(iter([]), iter([]), 0))):
        with pytest.raises(StoreUnavailable, match="is closed: it was moved to another place"):
            refused()
    with pytest.raises(StoreUnavailable, match="is closed: it was moved to another place"):
        await place.open()


def test_a_store_of_the_schema_before_cannot_be_closed(old: Schema, clock: ManualClock) -> None:
    """It has no place for the reason: the owner reads what to type first."""
    with pytest.raises(Invalid, match="type `orrery store migrate` first"):
        PostgresDatabase(old.address, clock).close("it was moved")
