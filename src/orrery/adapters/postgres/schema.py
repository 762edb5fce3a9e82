"""The tables of the store, made on request only."""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from orrery.adapters.postgres.address import connect
from orrery.adapters.postgres.standby import refuse_unusable
from orrery.adapters.postgres.trouble import unavailable
from orrery.errors import Invalid, StoreMissing, StoreUnavailable

SCHEMA_VERSION: Final = 2

OLDEST_SERVER = 130000
"""The first release of PostgreSQL whose statements these are, as its number is reported."""

HOLD: Final = "5724763940357931008 + 'orrery_store'::regclass::oid::bigint"
"""The number of the advisory lock that each connection shares, and that keeps a restore out while one has it: the
letters Orry, and the store's own number. No promise about what is stored follows from it."""

SHARE: Final = f"SELECT pg_advisory_lock_shared({HOLD})"

MARK: Final = "left(pg_walfile_name(pg_current_wal_lsn()), 8) || ':' || 'orrery_store'::regclass::oid"
"""The mark of the history: the server's timeline, and the store's own number, which a dump does not keep."""

COUNT_ON: Final = "SELECT setval('orrery_versions', greatest(last_value, %s)) FROM orrery_versions"

# Keys and ids are bytes: text cannot hold a NUL, and orders by a locale. Times are microseconds since 1970.
# The one row of orrery_store is the turn: each group of commits locks it, over all nodes. A row lock, because an
# advisory lock in the statement that reads is taken after its snapshot.
# Indexes have no names: those of the tables that a restore keeps are still taken.
TABLES = """
CREATE TABLE orrery_entries (
  key bytea PRIMARY KEY,
  value bytea NOT NULL,
  version bigint NOT NULL,
  expires_at bigint
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX ON orrery_entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE orrery_commits (id bytea PRIMARY KEY, version bigint NOT NULL, committed_at bigint NOT NULL);
CREATE INDEX ON orrery_commits (committed_at);
"""
_SCHEMA = """
CREATE TABLE orrery_store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema int NOT NULL,
  epoch bigint NOT NULL,
  seen bigint NOT NULL,
  timeline text NOT NULL,
  closed text
);
CREATE SEQUENCE orrery_versions CACHE 1;
"""

# With the mark of the history: a failover that loses all since then shows by it.
_FIRST = f"INSERT INTO orrery_store (schema, epoch, seen, timeline) SELECT %s, 1, 0, {MARK}"
_TABLES_THERE = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
"""

_NO_SCHEMA = (
    "The user in the address may not make a schema: as the owner of the database, type "
    "`GRANT CREATE ON DATABASE NAME TO USER;`, or name a user who may."
)


def create(connection_string: str) -> None:
    """Make an empty store in an empty schema of the database.

    Raises `Invalid` where any table is already, and `StoreUnavailable`; nothing was made then.
    """
    try:
        with connect(connection_string) as connection, connection.transaction():
            refuse_unusable(connection)
            make(connection)
    except psycopg.Error as error:
        raise unavailable(error) from error


def make(connection: psycopg.Connection) -> None:
    """Make an empty store within a transaction; raise `Invalid` where any table is already."""
    tables = [str(name) for (name,) in connection.execute(_TABLES_THERE).fetchall()]
    if "orrery_store" in tables:
        raise Invalid("There is a store in this database already: nothing was made.")
    if tables:
        raise Invalid("The database has tables of another program: give Orrery an empty one; nothing was made.")
    _ = connection.execute(_SCHEMA)
    _ = connection.execute(TABLES)
    _ = connection.execute(_FIRST, (SCHEMA_VERSION,))


@contextmanager
def new_schema(connection_string: str) -> Generator[str]:
    """Yield a connection string whose tables are in a new schema of the database, which is dropped in the end."""
    schema = f"orrery_scratch_{secrets.token_hex(8)}"
    given = conninfo_to_dict(connection_string).get("options") or ""
    try:
        with connect(connection_string) as connection:
            refuse_unusable(connection)
            _ = connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
            try:
                yield make_conninfo(connection_string, options=f"{given} -c search_path={schema}")
            finally:
                _ = connection.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))
    except psycopg.errors.InsufficientPrivilege:
        raise StoreUnavailable(_NO_SCHEMA) from None
    except psycopg.Error as error:
        raise unavailable(error) from error


def verify(schema: int | None, closed: str | None = None) -> None:
    """Raise `StoreMissing` without a store, `StoreUnavailable` for one that is closed, or of another release.

    A release reads its own schema and the one before.
    """
    if schema is None:
        raise StoreMissing("There is no store in this database: make one with `orrery store create`.")
    if schema not in (SCHEMA_VERSION - 1, SCHEMA_VERSION):
        raise StoreUnavailable(
            f"The store has schema version {schema}, and this release reads {SCHEMA_VERSION - 1} and "
            f"{SCHEMA_VERSION}: run the release that migrated it."
        )
    if closed:
        raise StoreUnavailable(f"The store in this database is closed: {closed}.")
