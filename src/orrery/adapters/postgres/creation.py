"""How a store is made in a database, on request only: to stay, or for as long as a command runs."""

import secrets
from collections.abc import Generator
from contextlib import closing, contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from orrery.adapters.postgres.barrier import first_host
from orrery.adapters.postgres.connection import LIMIT
from orrery.adapters.postgres.deadline import Deadline
from orrery.adapters.postgres.schema import FIRST, SCHEMA, SCHEMA_VERSION, TABLES
from orrery.adapters.postgres.standby import refuse_unusable
from orrery.adapters.postgres.trouble import unavailable
from orrery.errors import Invalid, StoreUnavailable

_EPOCHS = 2**62
"""A node that had the lost store open must not take for it one that is made again in an empty database."""

_TABLES_THERE = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
"""

_THERE = "There is a store in this database already: nothing was made."
_NO_TABLES = (
    "The user in the address may not make tables: as the owner of the database, type "
    "`GRANT CREATE ON SCHEMA public TO USER;`, or name a user who may."
)
_NO_SCHEMA = (
    "The user in the address may not make a schema: as the owner of the database, type "
    "`GRANT CREATE ON DATABASE NAME TO USER;`, or name a user who may."
)
_SCRATCH = "orrery_scratch_"
# The maker's session has a lock with the number of the schema's name: a killed one has none any more.
_LEFT = """
SELECT nspname FROM pg_namespace
WHERE starts_with(nspname, %s) AND pg_has_role(nspowner, 'USAGE') AND pg_try_advisory_lock(hashtext(nspname))
"""
_HOLD = """
SELECT pg_advisory_lock(hashtext(%s)) FROM (
  SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'
) AS idle RIGHT JOIN (SELECT) AS one ON true
"""
"""The session idles for as long as the trial runs. The setting is not there before PostgreSQL 14."""


def create(connection_string: str) -> None:
    """Make an empty store in an empty schema of the database.

    Raises `Invalid` where any table is already, and `StoreUnavailable`; nothing was made then.
    """
    with _connected(connection_string, _NO_TABLES) as connection, connection.transaction():
        make(connection)


def make(connection: psycopg.Connection) -> None:
    """Make an empty store within a transaction; raise `Invalid` where any table is already."""
    tables = [str(name) for (name,) in connection.execute(_TABLES_THERE).fetchall()]
    if "orrery_store" in tables:
        raise Invalid(_THERE)
    if tables:
        raise Invalid("The database has tables of another program: give Orrery an empty one; nothing was made.")
    try:
        _ = connection.execute(SCHEMA)
    except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):  # another was made meanwhile
        raise Invalid(_THERE) from None
    _ = connection.execute(TABLES)
    _ = connection.execute(FIRST, (SCHEMA_VERSION, secrets.randbelow(_EPOCHS)))


@contextmanager
def new_schema(connection_string: str) -> Generator[str]:
    """Yield a connection string whose tables are in a new schema of the database, which is dropped in the end.

    Those of killed runs are dropped first.
    """
    schema = f"{_SCRATCH}{secrets.token_hex(8)}"
    given = conninfo_to_dict(connection_string).get("options") or ""
    with _connected(connection_string, _NO_SCHEMA) as connection:
        _ = connection.execute(_HOLD, (schema,))
        for (left,) in connection.execute(_LEFT, (_SCRATCH,)).fetchall():
            _drop(connection, left)
        _ = connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
        try:
            yield make_conninfo(connection_string, options=f"{given} -c search_path={schema}")
        finally:
            _drop(connection, schema)


def _drop(connection: psycopg.Connection, schema: str) -> None:
    _ = connection.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))


@contextmanager
def _connected(connection_string: str, denied: str) -> Generator[psycopg.Connection]:
    """Yield a connection to the first host that takes commits; `denied` is the sentence for a user who may not."""
    try:
        with closing(Deadline(LIMIT)) as deadline:
            (connection, line), _ = first_host(
                connection_string, deadline, lambda found, _: refuse_unusable(found)
            )
            with closing(connection), closing(line):
                yield connection
    except psycopg.errors.InsufficientPrivilege:
        raise StoreUnavailable(denied) from None
    except psycopg.Error as error:
        raise unavailable(error) from error
