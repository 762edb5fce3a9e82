"""The tables of the store, and the numbers of their schema."""

from typing import Final

from orrery.errors import NoStore, StoreUnavailable

SCHEMA_VERSION: Final = 2

OLDEST_SERVER = 130000
"""The first release of PostgreSQL whose statements these are, as its number is reported."""

HOLD: Final = "5724763940357931008 + 'orrery_store'::regclass::oid::bigint"
"""The number of the advisory lock that each connection shares, and that keeps a restore out while one has it: the
letters Orry, and the store's own number. No promise about what is stored follows from it."""

SHARE: Final = f"SELECT pg_advisory_lock_shared({HOLD})"

MARK: Final = "left(pg_walfile_name(pg_current_wal_lsn()), 8) || ':' || 'orrery_store'::regclass::oid"
"""The mark of the history: the server's timeline, and the store's own number, which a dump does not keep."""

AWAITED: Final = r"""
CASE WHEN current_setting('synchronous_standby_names') = '' THEN 0 ELSE coalesce((regexp_match(
  current_setting('synchronous_standby_names'), '^\s*(?:ANY|FIRST)?\s*(\d+)\s*\(', 'i'))[1]::int, 1) END
"""
"""For how many standbys each commit waits."""

ANSWERING: Final = "sync_state IS NULL OR sync_state IN ('sync', 'quorum')"
"""Which standbys count; of one whose state a plain user does not see, that it is connected."""

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
SCHEMA = """
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
FIRST = f"INSERT INTO orrery_store (schema, epoch, seen, timeline) SELECT %s, %s, 0, {MARK}"


def verify(schema: int | None, closed: str | None = None) -> None:
    """Raise `StoreMissing` without a store, `StoreUnavailable` for one that is closed, or of another release.

    A release reads its own schema and the one before.
    """
    if schema is None:
        raise NoStore("There is no store in this database: make one with `orrery store create`.")
    if schema not in (SCHEMA_VERSION - 1, SCHEMA_VERSION):
        raise StoreUnavailable(
            f"The store has schema version {schema}, and this release reads {SCHEMA_VERSION - 1} and "
            f"{SCHEMA_VERSION}: run the release that migrated it."
        )
    if closed:
        raise StoreUnavailable(f"The store in this database is closed: {closed}.")
