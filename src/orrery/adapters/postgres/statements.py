"""The statements of the store: a wave of commits in one, and what reads."""

from typing import Final

from orrery.adapters.postgres.schema import ANSWERING, AWAITED

# A wave holds commits of which none reads or writes what another of them writes, so one snapshot serves all.
# Keys are looked up in subqueries: where a join is planned while a table is small, each wave reads all of it.
# `given` is an array, NULL for a commit that was refused: a join by the number was most of the time of a wave.
WAVE = """
WITH r AS MATERIALIZED (
  SELECT r.n, r.id, (
    SELECT k.version FROM orrery_commits k WHERE k.id = r.id AND abs(k.committed_at - %(now)b) <= %(remembered)b
  ) AS known FROM unnest(%(ids)b::bytea[]) WITH ORDINALITY AS r(id, n)
), failed AS MATERIALIZED (
  SELECT c.n, c.key, c.at
  FROM unnest(%(check_keys)b::bytea[], %(check_versions)b::bigint[], %(check_of)b::bigint[])
    WITH ORDINALITY AS c(key, version, n, at)
  WHERE c.version IS DISTINCT FROM (
    SELECT e.version FROM orrery_entries e
    WHERE e.key = c.key AND (e.expires_at IS NULL OR e.expires_at > %(now)b)
  )
), answer AS MATERIALIZED (
  SELECT n, id, known,
    CASE WHEN known IS NULL AND n NOT IN (SELECT n FROM failed) THEN nextval('orrery_versions') END AS fresh
  FROM r
), given AS MATERIALIZED (
  SELECT array_agg(fresh ORDER BY n) AS v FROM answer
), noted AS (
  INSERT INTO orrery_commits SELECT id, fresh, %(now)b FROM answer WHERE fresh IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET version = excluded.version, committed_at = excluded.committed_at
), put AS (
  INSERT INTO orrery_entries (key, value, version, expires_at)
  SELECT w.key, w.value, given.v[w.n], w.expires_at FROM given,
    unnest(%(put_keys)b::bytea[], %(put_values)b::bytea[], %(put_expiry)b::bigint[], %(put_of)b::bigint[])
    AS w(key, value, expires_at, n)
  WHERE given.v[w.n] IS NOT NULL
  ON CONFLICT (key) DO UPDATE
  SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
), gone AS (
  DELETE FROM orrery_entries WHERE key = ANY (ARRAY(
    SELECT d.key FROM given, unnest(%(delete_keys)b::bytea[], %(delete_of)b::bigint[]) AS d(key, n)
    WHERE given.v[d.n] IS NOT NULL
  ))
)
SELECT n, coalesce(known, fresh), (SELECT array_agg(key ORDER BY at) FROM failed WHERE failed.n = answer.n)
FROM answer
"""

# Divides by zero in a store that was restored or migrated meanwhile, so that nothing after it is carried out. The
# division is computed again when the row changed while its lock was waited for.
TURN = "SELECT 1 / (epoch = %b AND schema <= %b)::int FROM orrery_store FOR UPDATE"

# Only what is over by the database's clock, too: a node whose own is days ahead deletes nothing of the others'.
_SERVER_NOW = "(extract(epoch FROM now()) * 1000000)::bigint"
SWEEP_ENTRIES = f"""
DELETE FROM orrery_entries WHERE key = ANY (ARRAY(
  SELECT key FROM orrery_entries WHERE expires_at <= least(%(now)b, {_SERVER_NOW}) LIMIT %(most)b
))
"""  # noqa: S608  literals of ours
SWEEP_COMMITS = f"""
DELETE FROM orrery_commits WHERE id = ANY (ARRAY(
  SELECT id FROM orrery_commits
  WHERE committed_at < least(%(now)b, {_SERVER_NOW}) - %(remembered)b
    OR committed_at > greatest(%(now)b, {_SERVER_NOW}) + %(remembered)b
  LIMIT %(most)b
))
"""  # noqa: S608  literals of ours

_COLUMNS = "SELECT key, value, version, expires_at FROM orrery_entries"
_ALIVE = "(expires_at IS NULL OR expires_at > %b)"
GET = f"{_COLUMNS} WHERE key = ANY (%b::bytea[]) AND {_ALIVE}"
SCAN = f"{_COLUMNS} WHERE key >= %b AND key < %b AND {_ALIVE} ORDER BY key LIMIT %b"
SCAN_REVERSE = f"{_COLUMNS} WHERE key >= %b AND key < %b AND {_ALIVE} ORDER BY key DESC LIMIT %b"
# A plain user sees of standbys that they are connected, and no transaction of another user.
INSPECT: Final = f"""
SELECT CASE WHEN is_called THEN last_value ELSE 0 END,
  current_setting('server_version_num')::int, quote_ident(current_user), pg_has_role('pg_read_all_stats', 'USAGE'),
  pg_database_size(current_database()), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  current_setting('fsync')::boolean, current_setting('autovacuum')::boolean,
  {AWAITED}, standbys.*, slots.*, transactions.*, dead.*
FROM orrery_versions, (
  SELECT count(*) FILTER (WHERE {ANSWERING}),
    coalesce(max(behind) FILTER (WHERE sync_state <> 'async'), 0)::bigint,
    coalesce(extract(epoch FROM max(replay_lag) FILTER (WHERE sync_state <> 'async')), 0)::float
  FROM pg_stat_replication, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS behind
) AS standbys, (
  SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint
  FROM pg_replication_slots WHERE NOT active
) AS slots, (
  SELECT coalesce(extract(epoch FROM clock_timestamp() - min(since)), 0)::float FROM (
    SELECT xact_start AS since FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
      AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)
    UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
  ) AS one
) AS transactions, (
  SELECT coalesce(sum(n_dead_tup), 0)::bigint, coalesce(sum(n_live_tup), 0)::bigint FROM pg_stat_all_tables
  WHERE relid IN ('orrery_entries'::regclass, 'orrery_commits'::regclass)
) AS dead
"""  # noqa: S608  literals of ours
