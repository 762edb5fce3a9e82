"""A store in a schema of its own, whose tables a test looks at and changes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import psycopg

from orrery.adapters.postgres import PostgresStore
from orrery.ports.clock import Clock
from tests.support.postgres import Server

SOON = timedelta(seconds=1)
"""For a server that does not answer: the usual limit would be waited for."""


@dataclass
class Schema:
    """A store's own schema of a server."""

    server: Server
    name: str

    @property
    def address(self) -> str:
        """The connection string of the store."""
        return self.server.address(self.name)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return what a query finds in the schema."""
        with psycopg.connect(self.address) as connection:
            return connection.execute(query.encode()).fetchall()

    def change(self, statement: str) -> None:
        """Carry out a statement in the schema."""
        with psycopg.connect(self.address) as connection:
            connection.execute(statement.encode())

    def held(self) -> object:
        """Return all that the store holds."""
        return [self.rows(f"TABLE orrery_{table} ORDER BY 1") for table in ("entries", "commits")]

    @asynccontextmanager
    async def opened(self, clock: Clock, limit: timedelta = SOON) -> AsyncGenerator[PostgresStore]:
        """Open the store."""
        store = await PostgresStore.open(self.address, clock, limit=limit)
        try:
            yield store
        finally:
            await store.close()

    def refuse(self, state: str, condition: str) -> None:
        """Have the server refuse to note a commit with an SQLSTATE, where the condition holds."""
        self.change(_REFUSAL.format(state=state, condition=condition))


_REFUSAL = """
CREATE SEQUENCE IF NOT EXISTS attempts;
SELECT setval('attempts', 1, false);
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF {condition} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END IF;
  RETURN NEW;
END $$;
DROP TRIGGER IF EXISTS refuse ON orrery_entries;
CREATE TRIGGER refuse BEFORE INSERT ON orrery_entries FOR EACH ROW EXECUTE FUNCTION refuse();
"""
