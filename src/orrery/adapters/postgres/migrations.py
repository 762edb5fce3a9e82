"""How the tables of a store become those of a newer release, while the store is in use."""

from collections.abc import Mapping
from typing import Final, LiteralString

import psycopg

from orrery.adapters.postgres.transfer import NOT_THE_OWNER, Transfer, require_store, transfer
from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock

_MIGRATIONS: Final[Mapping[int, LiteralString]] = {2: "ALTER TABLE orrery_store ADD COLUMN closed text"}
"""The statements that lead to each schema from the one before. A release reads its own schema and the one before,
so that the nodes may be replaced one by one: what a node of the release before needs, stays."""

# Each group of commits locks the row, and so this table: it waits until all of it is done.
_TURN = "BEGIN; SET LOCAL lock_timeout = '2s'; LOCK TABLE orrery_store IN ACCESS EXCLUSIVE MODE"


def migrate(connection_string: str, clock: Clock) -> list[int]:
    """Bring the store to the newest schema, each step in a transaction, and return those that it went through.

    What uses the store goes on. Raises `StoreMissing`, and `StoreUnavailable`: what was done until then stays.
    """
    with transfer(connection_string, clock) as target:
        _ = require_store(target)
        try:
            return [schema for schema, statements in _MIGRATIONS.items() if _step(target, schema, statements)]
        except psycopg.errors.InsufficientPrivilege:
            raise StoreUnavailable(NOT_THE_OWNER) from None


def _step(target: Transfer, schema: int, statements: LiteralString) -> bool:
    _ = target.execute(_TURN)
    is_due = target.execute("SELECT schema FROM orrery_store") == [(schema - 1,)]
    if is_due:
        _ = target.execute(statements)
        _ = target.execute("UPDATE orrery_store SET schema = %s", (schema,))
    target.commit("Whether the store was migrated is not known: migrate it again.")
    return is_due
